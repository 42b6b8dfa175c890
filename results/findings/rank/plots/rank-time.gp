# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 744,386 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.717in,3.485in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1488,772 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'rank: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 36.0
set rmargin 4
set ytics ('rank 1, sigma shift 4, population 128' 0, 'rank 1, sigma shift 4, population 512' 1, 'rank 1, sigma shift 4, population 2,048' 2, 'rank 4, sigma shift 5, population 128' 3, 'rank 4, sigma shift 5, population 512' 4, 'rank 4, sigma shift 5, population 2,048' 5, 'rank 16, sigma shift 6, population 128' 6, 'rank 16, sigma shift 6, population 512' 7, 'rank 16, sigma shift 6, population 2,048' 8)
set yrange [8.6:-0.6]
set grid noytics
$bars << END
0 66.08519823052244 79.83043443721081 100
1 85.85975726368827 93.40057086067452 100
2 92.26875060902523 98.18264723077449 100
3 68.18612154917591 84.43564228721262 100
4 81.50633914032072 95.305993765388 100
5 86.73747331522883 98.70216299536317 100
6 68.70077624927008 91.6816590606387 99.99999999999999
7 76.48762986086143 97.7509737740361 100
8 78.90150891370618 99.39014697866715 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
