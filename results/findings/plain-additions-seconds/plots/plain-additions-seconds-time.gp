# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,482 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.351in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,964 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'plain-additions-seconds on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 27.5
set rmargin 4
set ytics ('with nothing, steps 1,000' 0, 'with masks, steps 1,000' 1, 'with context_tables, steps 665' 2, 'with logit_tables, steps 399' 3, 'with groups, steps 1,000' 4, 'with zero_head, steps 1,000' 5, 'with short_windows, steps 501' 6, 'with many_pairs, steps 134' 7, 'with small_groups, steps 1,000' 8, 'with noise_of_signs, steps 930' 9, 'with residual, steps 1,000' 10, 'with wide_logits, steps 1,000' 11, 'with narrow_core, steps 3,786' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 86.00939906271248 94.61226544147372 100
1 86.12667887973186 94.61229635192868 100
2 63.27899135172197 77.00080738693984 100
3 47.87496852199172 63.8128449013246 100
4 88.25229151706029 94.39787375849 100
5 86.6832934913735 94.58514681007654 100
6 57.9733145580461 94.38385653473924 100
7 91.683867471387 95.0964323986739 100
8 86.7018612095335 94.55744881110715 100
9 85.78202753155443 94.10514508304554 100
10 85.86055421006566 94.58300944122544 99.99999999999999
11 86.40529354216463 94.57694463234199 99.99999999999999
12 89.36357702947062 96.84099083732649 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
