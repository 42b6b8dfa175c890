# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,386 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.485in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,772 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'population on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 28.3
set rmargin 4
set ytics ('population 16,384, steps 2,000' 0, 'population 65,536, steps 500' 1, 'population 131,072, steps 250' 2, 'population 262,144, steps 125' 3, 'population 524,288, steps 63' 4, 'population 65,536, steps 2,000' 5, 'population 262,144, steps 500' 6, 'population 524,288, steps 250' 7, 'population 1,048,576, steps 125' 8)
set yrange [8.6:-0.6]
set grid noytics
$bars << END
0 27.692816024314627 70.78964780780899 100
1 43.924284149357504 87.92871186563893 100
2 47.374642761085816 86.90010024124852 100
3 49.125913690338976 85.75568316105668 100
4 48.47047761604343 83.01798172640389 100
5 46.46817179152984 90.18699483801666 100
6 52.54154464060948 96.548026484363 99.99999999999999
7 56.87784107674598 96.10429485875022 100
8 58.90084224106068 95.6258475022835 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
