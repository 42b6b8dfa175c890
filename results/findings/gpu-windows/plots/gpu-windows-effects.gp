# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1124,192 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 10.147in,1.733in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2248,384 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-windows on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 78.5
set rmargin 4
set ytics ('tables rows, tokens 1, population 1,048,576 against tables joint, tokens 1, population ...' 0, 'tables rows, tokens 2, population 524,288 against tables joint, tokens 1, population 1,...' 1, 'tables rows, tokens 4, population 262,144 against tables joint, tokens 1, population 1,...' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
0.17476281155665982 0 0.16648029518445523 0.1830453279288644
0.2604743340783555 1 0.24044864002545366 0.28050002813125735
0.3846161054530408 2 0.3690607087461764 0.4001715021599052
END
set xrange [-0.020008575107995263:0.42018007726790046]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
