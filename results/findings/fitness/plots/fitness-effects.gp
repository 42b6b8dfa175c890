# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,162 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('fitness: sign - zscore' 0, 'fitness: centered_rank - zscore' 1, 'fitness: difference - zscore' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
0.11993544229583622 0 0.0885500948635854 0.15132078972808705
-0.003056410184972158 1 -0.03047119300165496 0.024358372631710645
-0.01236960534485627 2 -0.035369600365953546 0.010630389676241008
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.044704119870655576:0.1606553092327891]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
