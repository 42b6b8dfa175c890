# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1094,168 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 9.873in,1.517in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2187,336 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'parts_gpu: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 75.1
set rmargin 4
set ytics ('perturbs, parts: perturbs values, parts network against perturbs nothing, parts tables' 0, 'perturbs, parts: perturbs values, parts both against perturbs nothing, parts tables' 1)
set yrange [1.6:-0.6]
set grid noytics
$rows << END
0.84404505224104 0 0.806637408314038 0.881452696168042
-0.015715093279042636 1 -0.026918277499599227 -0.004511909058486046
END
set xrange [-0.07233682618298129:0.926871244851424]
set xtics 0.2
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
