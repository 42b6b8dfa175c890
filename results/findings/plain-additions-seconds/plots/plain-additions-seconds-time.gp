# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,482 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.351in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,964 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'plain-additions-seconds: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 29.2
set rmargin 4
set ytics ('with nothing, steps 1,000' 0, 'with masks, steps 1,000' 1, 'with context_tables, steps 779' 2, 'with logit_tables, steps 558' 3, 'with groups, steps 1,000' 4, 'with zero_head, steps 1,000' 5, 'with short_windows, steps 363' 6, 'with many_pairs, steps 138' 7, 'with small_groups, steps 1,000' 8, 'with noise_of_signs, steps 1,036' 9, 'with residual, steps 1,000' 10, 'with wide_logits, steps 1,000' 11, 'with narrow_core, steps 1,725' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 31.944346046151118 36.38627917528001 100
1 29.098090040313824 33.11525859663471 100
2 25.01665816703599 35.50814216510852 99.99999999999999
3 20.787282397597654 30.804283281408367 100
4 27.74439087220138 31.16550309669921 100
5 29.06387840758771 33.27364116145512 100
6 15.170198834328671 30.702772081214192 100
7 23.113563991846988 25.361514814330633 100
8 34.0959438031611 39.20057039749911 100
9 31.489652319680822 35.955718290333884 100
10 36.579853503706275 41.290462534093145 100
11 29.111353963718482 33.301925816628916 100
12 35.80761780780986 38.660427617438984 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
