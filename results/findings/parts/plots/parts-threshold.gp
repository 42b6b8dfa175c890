# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,430 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.882in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,860 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'parts: threshold and update rate'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.3202447117684482 5.94487557315363
1.3202447117684482 5.97858991259939
1.3202447117684482 5.931427938356771
1.3202447117684482 6.083605754196271
1.3202447117684482 6.105724426777598
1.3202447117684482 6.044028262322714
1.805054932628197 2.7559441429795557
1.805054932628197 2.5726329675812663
1.805054932628197 2.523807462977671
END
set xlabel 'threshold (standard deviations of votes by chance)'
set ylabel 'weights with votes that a step changes'
set samples 400
set xrange [1.2911560985168633:1.834143545879782]
set logscale y
set yrange [2.238223712183314:21.058191861917415]
set ytics ('5 %%' 5, '10 %%' 10, '20 %%' 20)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes by chance', $runs with points lc rgb '#0b4f8a' pt 6 ps 0.8 title 'a run: mean over the last quarter of its steps'
