# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1124,144 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 10.147in,1.300in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2248,288 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'network_gpu: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 78.5
set rmargin 4
set ytics ('perturbs values, optimizer es_adagrad, population 4,096, steps 5,350 against perturbs w...' 0)
set yrange [0.6:-0.6]
set grid noytics
$rows << END
-1.093194160366402 0 -1.1266604315605384 -1.0597278891722655
END
set xrange [-1.1829934531385653:0.05633302157802692]
set xtics 0.5
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
