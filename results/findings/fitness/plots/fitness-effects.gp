# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 721,192 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.511in,1.733in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1442,384 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'fitness: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 33.5
set rmargin 4
set ytics ('fitness: sign against zscore' 0, 'fitness: centered_rank against zscore' 1, 'fitness: difference against zscore' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
0.11993544229583622 0 0.0885500948635854 0.15132078972808705
-0.003056410184972158 1 -0.03047119300165496 0.024358372631710645
-0.01236960534485627 2 -0.035369600365953546 0.010630389676241008
END
set xrange [-0.044704119870655576:0.1606553092327891]
set xtics 0.05
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
