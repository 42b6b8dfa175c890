# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,482 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.351in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,964 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'additions-seconds: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 30.1
set rmargin 4
set ytics ('without nothing, steps 250' 0, 'without context_tables, steps 294' 1, 'without logit_tables, steps 375' 2, 'without joint_tables, steps 219' 3, 'without groups, steps 158' 4, 'without zero_head, steps 250' 5, 'without short_windows, steps 286' 6, 'without many_pairs, steps 2,399' 7, 'without small_groups, steps 354' 8, 'without noise_of_signs, steps 250' 9, 'without residual, steps 250' 10, 'without wide_logits, steps 250' 11, 'without narrow_core, steps 194' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 22.856856406357824 45.198683673278694 100
1 24.32615641443734 47.956604596379954 100
2 28.6246491014875 51.57049216831617 100
3 27.658584597716047 49.739928182643176 100
4 18.629303498137155 48.04301094546324 100
5 24.79282934360375 49.69280055050132 100
6 27.912128274253178 47.5978845984671 100
7 27.874369942634004 63.454895245540165 100
8 32.82950822015029 48.97157308443737 100
9 22.109478852483356 44.51047221444238 100
10 23.654517919188585 47.13791971428919 100
11 23.072396258857058 45.716578217780416 100
12 25.37268595405943 46.4310981495716 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
