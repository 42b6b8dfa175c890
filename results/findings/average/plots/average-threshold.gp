# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,430 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.882in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,860 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'average on a withdrawn text: threshold and update rate'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.08659409375751 1.08975085220658
1.08659409375751 1.0889756626277576
1.08659409375751 1.0909030073129549
1.08659409375751 1.08975085220658
1.08659409375751 1.0889756626277576
1.08659409375751 1.0909030073129549
0 10.42556645163677
0 10.378962328599133
0 10.386477394479344
0 10.42556645163677
0 10.378962328599133
0 10.386477394479344
END
set xlabel 'threshold (standard deviations of votes by chance)'
set ylabel 'weights that a step changes'
set samples 400
set xrange [-0.0651956456254506:1.1517897393829606]
set logscale y
set yrange [0.830308080193807:131.15320549133685]
set ytics ('1 %%' 1, '10 %%' 10, '100 %%' 100)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes by chance', $runs with points lc rgb '#0b4f8a' pt 6 ps 0.8 title 'a run: mean over the last quarter of its steps'
