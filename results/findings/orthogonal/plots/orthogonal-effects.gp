# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,240 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,2.167in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,480 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'orthogonal: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 27.5
set rmargin 4
set ytics ('draws: 4 against 1' 0, 'draws: 16 against 1' 1, 'draws: 64 against 1' 2, 'draws: 256 against 1' 3, 'orthogonal: false against true' 4)
set yrange [4.6:-0.6]
set grid noytics
$rows << END
-0.08146014193663753 0 -0.08539732485120018 -0.07752295902207489
-0.1316274149838493 1 -0.13864003098988814 -0.12461479897781047
-0.1569650043718407 2 -0.16513223252525816 -0.14879777621842322
-0.1667970005703662 3 -0.17696702914511656 -0.15662697199561584
0.009735612723161131 4 0.006774025279983274 0.012697200166338988
END
set xrange [-0.18645024061068932:0.022180411631911767]
set xtics 0.05
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
