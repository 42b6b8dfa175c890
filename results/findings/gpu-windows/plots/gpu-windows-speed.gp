# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,430 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.882in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,860 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-windows on a withdrawn text: speed'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
262144 85457594.94291213
524288 64075458.62979764
1048576 56484833.83997417
END
$line1 << END
262144 110108289.98100835
524288 106831003.66591756
1048576 72484566.53021649
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [244589.00053342484:1123835.930252456]
set logscale y
set yrange [53109429.93754197:117106293.01228008]
set xtics ('262,144' 262144, '524,288' 524288, '1,048,576' 1048576)
set mxtics 1
set ytics ('60 M' 60000000, '80 M' 80000000, '100 M' 100000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'NVIDIA H200, 5 threads', $line1 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'NVIDIA H200, 6 threads'
