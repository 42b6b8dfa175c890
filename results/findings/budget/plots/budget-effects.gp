# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,192 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,1.733in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,384 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'budget on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 32.6
set rmargin 4
set ytics ('population: 65,536 against 16,384' 0, 'population: 262,144 against 16,384' 1, 'population: 1,048,576 against 16,384' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
-0.49139543054789964 0 -0.5377089034359737 -0.44508195765982556
-0.838732199071036 1 -0.8798875187196028 -0.7975768794224692
-1.0741522820601153 2 -1.12093261839187 -1.0273719457283605
END
set xrange [-1.1769792493114635:0.0560466309195935]
set xtics 0.5
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
