# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,216 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,1.950in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,432 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'threshold-scaling: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 26.6
set rmargin 4
set ytics ('population: 512 against 256' 0, 'population: 1,024 against 256' 1, 'population: 2,048 against 256' 2, 'population: 4,096 against 256' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.4264115916459755 0 -0.502428564291628 -0.35039461900032304
-0.7602356441315647 1 -0.8690471991039767 -0.6514240891591528
-1.0204354572096068 2 -1.1890406609754358 -0.8518302534437777
-1.2359545996717136 3 -1.4276189377223758 -1.0442902616210514
END
set xrange [-1.4989998846084946:0.07138094688611879]
set xtics 0.5
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
