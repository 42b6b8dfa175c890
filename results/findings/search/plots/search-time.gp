# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,650 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,5.868in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1300 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'search: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 8.8
set rmargin 4
set ytics ('trial 5' 0, 'trial 11' 1, 'trial 13' 2, 'trial 10' 3, 'trial 12' 4, 'trial 8' 5, 'trial 1' 6, 'trial 26' 7, 'trial 25' 8, 'trial 23' 9, 'trial 22' 10, 'trial 24' 11, 'trial 15' 12, 'trial 14' 13, 'trial 17' 14, 'trial 16' 15, 'trial 4' 16, 'trial 9' 17, 'trial 20' 18, 'trial 21' 19)
set yrange [19.6:-0.6]
set grid noytics
$bars << END
0 40.069244106667064 57.99935666931317 100
1 38.20714927500892 55.36350067805116 100
2 35.289002595052956 51.19174127084606 100
3 36.5684216163157 53.31697207501733 100
4 50.79977965401774 75.69570779619558 100
5 42.125057827284955 72.52583030471781 100
6 36.75021838427417 49.455324132422604 100
7 34.60874399353477 59.65997137866004 100
8 39.543346305380375 56.18836009917165 100
9 33.2963169410436 56.54564991849129 100
10 41.96748686275987 61.957991247298295 100
11 41.09240832066724 60.74064155810298 100
12 41.05673033408678 52.27384703413195 100
13 50.133977713977515 74.30928206925326 100
14 39.9173670864875 51.50876637964632 100
15 41.47853091619989 61.28997046684388 100
16 42.103787823554356 62.29012282045115 100
17 36.99843808817181 53.95758244004466 100
18 41.32165400022655 53.08847339431422 100
19 41.43642217353342 53.17025938430332 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
