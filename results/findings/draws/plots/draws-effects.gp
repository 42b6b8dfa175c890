# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,216 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,1.950in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,432 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'draws: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 26.6
set rmargin 4
set ytics ('draws: four against one' 0, 'draws: sixteen against one' 1, 'draws: sixty_four against one' 2, 'draws: complete against one' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.08417533250965636 0 -0.09154479681563399 -0.07680586820367874
-0.1385175526159108 1 -0.14856726721825583 -0.1284678380135658
-0.1653495505727743 2 -0.1753507933087778 -0.1553483078367708
-0.1719942536747804 3 -0.18308820998898373 -0.1609002973605771
END
set xrange [-0.1922426204884329:0.009154410499449187]
set xtics 0.05
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
