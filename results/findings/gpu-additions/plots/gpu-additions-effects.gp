# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 736,264 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.648in,2.383in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1473,528 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-additions: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 35.1
set rmargin 4
set ytics ('without: context_tables against nothing' 0, 'without: logit_tables against nothing' 1, 'without: groups against nothing' 2, 'without: zero_head against nothing' 3, 'without: residual against nothing' 4, 'without: narrow_core against nothing' 5)
set yrange [5.6:-0.6]
set grid noytics
$rows << END
0.007405425104440422 0 0.0051498597610118435 0.009660990447869
0.0779456570821641 1 0.0738090936370467 0.0820822205272815
-0.005745270646938454 2 -0.007526427360716846 -0.003964113933160061
0.0027763311225769507 3 0.0001999437648806182 0.005352718480273283
0.01914912684444629 4 0.017886400699893192 0.020411852988999387
0.0058233907690588005 5 0.0028146923984319074 0.008832089139685693
END
set xrange [-0.012006859755116762:0.08656265292168142]
set xtics 0.02
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
