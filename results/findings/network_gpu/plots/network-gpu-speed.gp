# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,410 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.701in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,820 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'network_gpu: speed'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
4096 1790178629.6624827
131072 532332813.1008526
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [3444.311716879215:155871.75497763665]
set logscale y
set yrange [494971791.4608203:1925303304.7979093]
set xtics ('4,096' 4096, '131,072' 131072)
set mxtics 1
set ytics ('500 M' 500000000, '600 M' 600000000, '800 M' 800000000, '1 G' 1000000000, '1.5 G' 1500000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'NVIDIA H100 80GB HBM3, 16 threads'
