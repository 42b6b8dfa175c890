# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,186 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('train.population: 131072 - 32768' 0, 'model.width: 32 - 16' 1, 'model.width: 64 - 16' 2, 'model.width: 128 - 16' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.3369304134443401 0 -0.35462346076749757 -0.31923736612118264
-0.012171873570729167 1 -0.021123890478047427 -0.0032198566634109044
0.013256162899359122 2 -0.00597814357663694 0.032490469375355185
-0.002895231990810062 3 -0.01643155393190616 0.010641089950286039
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.3739791572746402:0.051846165882497824]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
