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
set ytics ('with nothing, steps 1,000' 0, 'with masks, steps 1,000' 1, 'with context_tables, steps 795' 2, 'with logit_tables, steps 682' 3, 'with groups, steps 1,000' 4, 'with zero_head, steps 1,000' 5, 'with short_windows, steps 485' 6, 'with many_pairs, steps 130' 7, 'with small_groups, steps 1,000' 8, 'with noise_of_signs, steps 1,000' 9, 'with residual, steps 1,000' 10, 'with wide_logits, steps 1,000' 11, 'with narrow_core, steps 3,100' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 80.9461869476386 88.1709898910784 100
1 80.89275710271274 88.20268660686367 100
2 62.616020898524695 75.7215691985986 100
3 51.97733207684146 66.27248205307599 100
4 81.59832486220573 87.95811696567748 100
5 81.04714359488355 88.17049694648163 100
6 52.469855601850924 88.47586064952807 100
7 85.43159801719108 88.92433769079611 100
8 80.71501996299962 88.2719663264639 99.99999999999999
9 81.03146127908889 88.17093455976465 100
10 81.2427571461959 88.30098686933484 99.99999999999999
11 81.17516273039604 88.31575368200106 100
12 80.25644867101298 88.66721803892021 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
