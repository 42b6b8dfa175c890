# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,410 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.701in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,820 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'orthogonal: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 24.9
set rmargin 4
set ytics ('draws 1, orthogonal true' 0, 'draws 1, orthogonal false' 1, 'draws 4, orthogonal true' 2, 'draws 4, orthogonal false' 3, 'draws 16, orthogonal true' 4, 'draws 16, orthogonal false' 5, 'draws 64, orthogonal true' 6, 'draws 64, orthogonal false' 7, 'draws 256, orthogonal true' 8, 'draws 256, orthogonal false' 9)
set yrange [9.6:-0.6]
set grid noytics
$bars << END
0 8.868090981386326 28.710627634874236 100
1 7.863351247649429 27.44065463939914 100
2 12.317963934648555 35.79627500578887 100
3 11.553102606106943 35.28756043437609 100
4 11.140382367428707 36.497850504592385 100
5 13.026587645330997 37.901074987426064 100
6 10.755562976635842 32.01988033910438 100
7 21.785526220622938 39.194606924211506 100
8 13.099703931144157 42.08678338364216 100
9 46.02525277862301 62.49022515414907 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
