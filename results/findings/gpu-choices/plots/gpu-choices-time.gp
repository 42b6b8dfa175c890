# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 987,386 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.912in,3.485in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1974,772 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-choices on a withdrawn text: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 63.2
set rmargin 4
set ytics ('instead nothing, fitness zscore, noise counter, optimizer sign_es' 0, 'instead rank_4, fitness zscore, noise counter, optimizer sign_es' 1, 'instead rounding_down, fitness zscore, noise counter, optimizer sign_es' 2, 'instead small_noise, fitness zscore, noise counter, optimizer sign_es' 3, 'instead large_noise, fitness zscore, noise counter, optimizer sign_es' 4, 'instead nothing, fitness sign, noise counter, optimizer sign_es' 5, 'instead nothing, fitness centered_rank, noise counter, optimizer sign_es' 6, 'instead nothing, fitness zscore, noise table, optimizer sign_es' 7, 'instead nothing, fitness zscore, noise counter, optimizer es_adamw' 8)
set yrange [8.6:-0.6]
set grid noytics
$bars << END
0 23.45958289657742 48.766217979767 100
1 37.45772750030471 57.600643989181364 100
2 22.620814562118767 47.13235585276987 100
3 22.67061418674591 47.678969829154006 100
4 21.906927675839878 47.77452744188666 100
5 23.404438767964532 46.64037377614376 100
6 5.486896053851158 87.15348743309377 99.99999999999999
7 23.179368536684848 48.51363194456302 100
8 16.661746344159717 40.12503019171072 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
