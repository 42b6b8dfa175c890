# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 736,264 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.648in,2.383in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1473,528 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-additions on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 35.1
set rmargin 4
set ytics ('without: context_tables against nothing' 0, 'without: logit_tables against nothing' 1, 'without: groups against nothing' 2, 'without: zero_head against nothing' 3, 'without: residual against nothing' 4, 'without: narrow_core against nothing' 5)
set yrange [5.6:-0.6]
set grid noytics
$rows << END
0.014532967709460701 0 0.009116077571720796 0.019949857847200606
0.17404847330096299 1 0.155813401056236 0.19228354554568997
-0.01656233255157158 2 -0.02224167171573195 -0.010882993387411208
0.0011918018620473703 3 -0.0022899305737559142 0.004673534297850655
0.0215273594446083 4 0.015783112322722677 0.027271606566493925
0.005283334425849458 5 0.0020149738593384647 0.008551694992360451
END
set xrange [-0.032967932578803046:0.20300980640876107]
set xtics 0.05
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
