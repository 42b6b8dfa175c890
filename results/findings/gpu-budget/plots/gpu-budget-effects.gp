# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 729,192 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.579in,1.733in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1458,384 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-budget on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 34.3
set rmargin 4
set ytics ('population: 1,048,576 against 262,144' 0, 'population: 4,194,304 against 262,144' 1, 'population: 16,777,216 against 262,144' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
-0.24748299361386975 0 -0.25271236968650884 -0.24225361754123062
-0.4111623212736726 1 -0.42093557670368853 -0.40138906584365663
-0.5210889044066859 2 -0.5297502921505038 -0.5124275166628679
END
set xrange [-0.556237806758029:0.026487514607525194]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
