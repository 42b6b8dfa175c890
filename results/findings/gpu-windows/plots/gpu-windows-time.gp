# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 774,266 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.991in,2.401in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1549,532 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-windows: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 39.4
set rmargin 4
set ytics ('tables joint, tokens 1, population 1,048,576' 0, 'tables rows, tokens 1, population 1,048,576' 1, 'tables rows, tokens 2, population 524,288' 2, 'tables rows, tokens 4, population 262,144' 3)
set yrange [3.6:-0.6]
set grid noytics
$bars << END
0 2.572362138249682 9.755889134986411 100
1 2.9748804765013563 11.141185796720976 99.99999999999999
2 2.379110089374242 9.073201151869895 100
3 2.0869167545426555 8.682834162019075 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
