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
set ytics ('without nothing, steps 250' 0, 'without context_tables, steps 303' 1, 'without logit_tables, steps 412' 2, 'without joint_tables, steps 240' 3, 'without groups, steps 161' 4, 'without zero_head, steps 250' 5, 'without short_windows, steps 309' 6, 'without many_pairs, steps 2,720' 7, 'without small_groups, steps 378' 8, 'without noise_of_signs, steps 243' 9, 'without residual, steps 250' 10, 'without wide_logits, steps 250' 11, 'without narrow_core, steps 154' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 42.95157556747644 78.08601506453927 100
1 44.926624323114936 81.10420978652192 100
2 52.49615829198747 87.00143676251616 99.99999999999999
3 46.112960984964545 78.49938996252956 100
4 33.001740783245594 77.76158802352826 100
5 42.459245139935774 76.26310172698567 100
6 46.82083681096654 76.39088981528685 100
7 18.926057744196214 51.93329625212264 100
8 55.49342780617535 77.74795025500529 100
9 42.80296399198129 76.37197112918777 100
10 42.827779180266795 76.3279552119253 100
11 42.54667408077102 76.5082372230909 100
12 50.32718348006817 73.66340620877642 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
