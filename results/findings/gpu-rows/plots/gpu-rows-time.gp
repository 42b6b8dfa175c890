# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,362 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.268in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,724 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-rows: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 30.9
set rmargin 4
set ytics ('rows bits_14, population 524,288' 0, 'rows bits_14, population 8,388,608' 1, 'rows bits_16, population 524,288' 2, 'rows bits_16, population 8,388,608' 3, 'rows bits_18, population 524,288' 4, 'rows bits_18, population 8,388,608' 5, 'rows bits_20, population 524,288' 6, 'rows bits_20, population 8,388,608' 7)
set yrange [7.6:-0.6]
set grid noytics
$bars << END
0 1.5614154620433618 5.648241098753391 100
1 9.832088891682858 47.55475569586506 100
2 1.4529361846107678 5.3837527588795355 100
3 10.32312100141744 48.80220078932205 100
4 2.807054962038399 9.302417413060246 100
5 10.250611979241011 48.731424449442514 100
6 1.1867413372347762 4.687828770324546 99.99999999999999
7 7.181254730948056 35.69265172556238 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
