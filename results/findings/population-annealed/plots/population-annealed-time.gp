# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 767,362 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.922in,3.268in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1534,724 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'population-annealed on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 38.5
set rmargin 4
set ytics ('population 16,384, steps 2,000, anneal 15.0' 0, 'population 65,536, steps 500, anneal 7.0' 1, 'population 131,072, steps 250, anneal 3.0' 2, 'population 262,144, steps 125, anneal 3.0' 3, 'population 65,536, steps 2,000, anneal 30.0' 4, 'population 262,144, steps 500, anneal 7.0' 5, 'population 524,288, steps 250, anneal 3.0' 6, 'population 1,048,576, steps 125, anneal 3.0' 7)
set yrange [7.6:-0.6]
set grid noytics
$bars << END
0 30.259050382878428 72.97814174630015 100
1 45.48920199955477 90.05408279207138 100
2 48.26119832854101 88.80100694788268 99.99999999999999
3 50.03782361422058 89.23649210244847 100
4 45.33857997585866 89.2639914004992 100
5 53.23560128043609 97.21769013821235 100
6 55.654957965821254 97.0505654861169 100
7 56.93453364889214 95.59093084169639 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
