# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 934,192 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.432in,1.733in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1868,384 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'noise-source: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 57.2
set rmargin 4
set ytics ('noise table, table log2 12 against noise counter, table log2 null' 0, 'noise table, table log2 16 against noise counter, table log2 null' 1, 'noise table, table log2 24 against noise counter, table log2 null' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
0.6984693321229807 0 0.6383465183605725 0.7585921458853888
0.04185609100711544 1 0.017073869537375712 0.06663831247685517
-0.0006980636388646507 2 -0.01881645461305257 0.01742032733532327
END
set xrange [-0.057686884637974646:0.7974625759103109]
set xtics 0.2
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
