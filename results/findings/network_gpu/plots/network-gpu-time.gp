# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 964,218 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.706in,1.968in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1929,436 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'network_gpu: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 60.6
set rmargin 4
set ytics ('perturbs weights, optimizer sign_es, population 131,072, steps 12,500' 0, 'perturbs values, optimizer es_adagrad, population 4,096, steps 5,350' 1)
set yrange [1.6:-0.6]
set grid noytics
$bars << END
0 71.99311136328646 94.92978773127551 100
1 81.59614475871739 94.59126525635459 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
