# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1101,168 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 9.941in,1.517in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2202,336 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'parts: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 76.0
set rmargin 4
set ytics ('without network, steps 500, anneal 5.0 against without nothing, steps 500, anneal 5.0' 0, 'without tables, steps 1,700, anneal 15.0 against without nothing, steps 500, anneal 5.0' 1)
set yrange [1.6:-0.6]
set grid noytics
$rows << END
-0.021499015811439797 0 -0.05326618465012785 0.010268153027248251
1.6147507154626635 1 1.4567212704884878 1.7727801604368392
END
set xrange [-0.1445685019044762:1.8640824776911875]
set xtics 0.5
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
