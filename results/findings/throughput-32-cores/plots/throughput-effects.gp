# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,240 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,2.167in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,480 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'throughput: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 26.6
set rmargin 4
set ytics ('population: 256 against 64' 0, 'population: 1,024 against 64' 1, 'population: 4,096 against 64' 2, 'population: 16,384 against 64' 3, 'population: 65,536 against 64' 4)
set yrange [4.6:-0.6]
set grid noytics
$rows << END
-0.8970125020485507 0 -1.060311374735399 -0.7337136293617025
-1.7296016300557586 1 -1.9609884662835007 -1.4982147938280166
-2.4234943200214523 2 -2.739564080696825 -2.1074245593460796
-2.9078805048022103 3 -3.1867828682310204 -2.6289781413734
-3.2172229810828035 4 -3.514540567391385 -2.9199053947742217
END
set xrange [-3.6902675957609543:0.17572702836956927]
set xtics 1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
