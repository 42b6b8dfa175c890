# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 721,216 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.511in,1.950in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1442,432 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-rows on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 33.5
set rmargin 4
set ytics ('rows: bits_16 against bits_14' 0, 'rows: bits_18 against bits_14' 1, 'rows: bits_20 against bits_14' 2, 'population: 8,388,608 against 524,288' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.09269051055315924 0 -0.09480929829483407 -0.09057172281148441
-0.1409203824236861 1 -0.14226758637250705 -0.13957317847486514
-0.16126040535365968 2 -0.163449545412925 -0.15907126529439436
-0.32605753455333664 3 -0.32834875407138936 -0.3237663150352839
END
set xrange [-0.3447661917749588:0.01641743770356947]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
