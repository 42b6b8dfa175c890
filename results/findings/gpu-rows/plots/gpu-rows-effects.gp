# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 721,216 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.511in,1.950in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1442,432 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-rows: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 33.5
set rmargin 4
set ytics ('rows: bits_16 against bits_14' 0, 'rows: bits_18 against bits_14' 1, 'rows: bits_20 against bits_14' 2, 'population: 8,388,608 against 524,288' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.057846584436769564 0 -0.06050842226044776 -0.05518474661309137
-0.08233482553627103 1 -0.08561773914389041 -0.07905191192865164
-0.08946019422155833 2 -0.09039283376343477 -0.0885275546796819
-0.19069496779431847 3 -0.19553357994242943 -0.1858563556462075
END
set xrange [-0.2053102589395509:0.009776678997121473]
set xtics 0.05
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
