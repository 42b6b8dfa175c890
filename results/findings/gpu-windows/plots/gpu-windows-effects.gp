# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1124,192 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 10.147in,1.733in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2248,384 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-windows: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 78.5
set rmargin 4
set ytics ('tables rows, tokens 1, population 1,048,576 against tables joint, tokens 1, population ...' 0, 'tables rows, tokens 2, population 524,288 against tables joint, tokens 1, population 1,...' 1, 'tables rows, tokens 4, population 262,144 against tables joint, tokens 1, population 1,...' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
0.10220070018917864 0 0.09592878640433224 0.10847261397402504
0.15232602352736432 1 0.14695567286323738 0.15769637419149127
0.22679571382483354 2 0.20833834148018773 0.24525308616947936
END
set xrange [-0.012262654308473968:0.25751574047795334]
set xtics 0.05
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
