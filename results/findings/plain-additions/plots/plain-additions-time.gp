# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,482 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.351in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,964 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'plain-additions on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 18.1
set rmargin 4
set ytics ('with nothing' 0, 'with masks' 1, 'with context_tables' 2, 'with logit_tables' 3, 'with groups' 4, 'with zero_head' 5, 'with short_windows' 6, 'with many_pairs' 7, 'with small_groups' 8, 'with noise_of_signs' 9, 'with residual' 10, 'with wide_logits' 11, 'with narrow_core' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 86.14917555969073 94.59854716951706 100
1 86.63277167829806 94.50319297905534 100
2 67.49535105745724 81.24525301997987 100
3 48.29861098214614 63.50729795128679 100
4 88.06458317989045 94.47187154913415 100
5 85.78259378491678 94.67524834137794 100
6 58.51687773061241 96.75480485794611 100
7 91.27197021939882 94.91568022482657 99.99999999999999
8 85.26311268820953 94.59330298345509 100
9 85.40111377157807 94.54876362191305 100
10 85.28497285642814 94.59794359313898 100
11 85.24525083438566 94.62211329024656 100
12 85.60144673714242 93.65201223030472 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
