# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,410 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.701in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,820 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-windows: speed'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
262144 171446547.54406926
524288 153750980.7604528
1048576 135226176.15868837
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [244589.00053342484:1123835.930252456]
set logscale y
set yrange [102539326.09892818:226099214.04813668]
set xtics ('262,144' 262144, '524,288' 524288, '1,048,576' 1048576)
set mxtics 1
set ytics ('150 M' 150000000, '200 M' 200000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'NVIDIA H100 80GB HBM3, 16 threads'
