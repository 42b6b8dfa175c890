# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,430 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.882in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,860 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'search-confirmed: threshold and update rate'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.7227061675810182 0.5560675282362143
1.7227061675810182 0.5562756123425711
1.7227061675810182 0.5570754566565241
1.7227061675810182 0.5561708541860331
1.7227061675810182 0.5566368562903761
1.0855733320976932 0.5984302293594964
1.0855733320976932 0.601599325798224
1.0855733320976932 0.6021339456174668
1.0855733320976932 0.5978850494706666
1.0855733320976932 0.600850212713698
END
set xlabel 'threshold (standard deviations of votes by chance)'
set ylabel 'weights that a step changes'
set samples 400
set xrange [1.0473453619686937:1.7609341377100178]
set logscale y
set yrange [0.4397680315765383:35.109884784560975]
set ytics ('0.5 %%' 0.5, '1 %%' 1, '2 %%' 2, '5 %%' 5, '10 %%' 10, '20 %%' 20)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes by chance', $runs with points lc rgb '#0b4f8a' pt 6 ps 0.8 title 'a run: mean over the last quarter of its steps'
