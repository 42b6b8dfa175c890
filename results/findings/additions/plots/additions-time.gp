# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,482 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.351in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,964 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'additions on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 20.7
set rmargin 4
set ytics ('without nothing' 0, 'without context_tables' 1, 'without logit_tables' 2, 'without joint_tables' 3, 'without groups' 4, 'without zero_head' 5, 'without short_windows' 6, 'without many_pairs' 7, 'without small_groups' 8, 'without noise_of_signs' 9, 'without residual' 10, 'without wide_logits' 11, 'without narrow_core' 12)
set yrange [12.6:-0.6]
set grid noytics
$bars << END
0 45.0129355948456 80.3363830969546 100
1 41.56406419775276 76.48514354116975 100
2 58.189952075117034 91.64246823631578 100
3 44.90094360974916 78.2922082949163 100
4 36.703818531328665 84.1020874491188 100
5 43.45905741340644 79.57551847273801 100
6 47.85416470711409 77.50256722708735 100
7 11.653667030633217 32.29617499047788 100
8 51.04227047007812 71.80216713611884 100
9 43.91630665461167 78.56574774317274 100
10 42.541210992154134 76.31557140422272 100
11 43.37641383417783 78.46495018956254 100
12 54.10414482760931 80.8204374164298 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
