# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,362 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.268in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,724 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'width on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 26.6
set rmargin 4
set ytics ('population 32,768, width 16' 0, 'population 32,768, width 32' 1, 'population 32,768, width 64' 2, 'population 32,768, width 128' 3, 'population 131,072, width 16' 4, 'population 131,072, width 32' 5, 'population 131,072, width 64' 6, 'population 131,072, width 128' 7)
set yrange [7.6:-0.6]
set grid noytics
$bars << END
0 27.241731510536937 59.77471040556429 100
1 31.274958062880785 61.93971647221335 100
2 38.2932627386686 64.33489593293669 100
3 44.556306473320426 66.60443299040809 100
4 45.99739854919627 85.04784134023483 100
5 52.189951843257965 85.99523055743892 100
6 58.1663936870835 86.17505070010318 100
7 65.38892816297191 87.38741283961609 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
