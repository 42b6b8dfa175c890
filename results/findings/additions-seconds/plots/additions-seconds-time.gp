# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,482 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.351in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,964 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'additions-seconds on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 30.1
set rmargin 4
set ytics ('without nothing, steps 250' 0, 'without context_tables, steps 270' 1, 'without logit_tables, steps 512' 2, 'without joint_tables, steps 203' 3, 'without groups, steps 162' 4, 'without zero_head, steps 250' 5, 'without short_windows, steps 244' 6, 'without many_pairs, steps 664' 7, 'without small_groups, steps 308' 8, 'without noise_of_signs, steps 244' 9, 'without residual, steps 250' 10, 'without wide_logits, steps 250' 11, 'without narrow_core, steps 167' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 42.43575447093511 77.32673619534533 100
1 41.318265756626566 75.95114553709735 100
2 59.579917714232046 92.31617022406118 100
3 42.20364704530629 73.96674155702591 100
4 34.997245047145285 79.47345474549398 100
5 41.78318519912067 75.1646412442212 100
6 42.9805578020319 70.86028658590202 100
7 8.41596152504601 25.0724134561423 100
8 45.271563120495664 65.95131018040982 100
9 40.979352622914526 74.3174890708713 100
10 41.6958661477419 75.14545600372213 99.99999999999999
11 41.60339765148955 75.62132458172258 100
12 50.43510851607562 75.9640830926998 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
