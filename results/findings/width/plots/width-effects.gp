# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,216 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,1.950in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,432 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'width on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 30.9
set rmargin 4
set ytics ('population: 131,072 against 32,768' 0, 'width: 32 against 16' 1, 'width: 64 against 16' 2, 'width: 128 against 16' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.3369304134443401 0 -0.35462346076749757 -0.31923736612118264
-0.012171873570729167 1 -0.021123890478047427 -0.0032198566634109044
0.013256162899359122 2 -0.00597814357663694 0.032490469375355185
-0.002895231990810062 3 -0.01643155393190616 0.010641089950286039
END
set xrange [-0.3739791572746402:0.051846165882497824]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
