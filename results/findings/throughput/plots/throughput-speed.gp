# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,410 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.701in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,820 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'throughput: speed'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
64 3686842.562172633
256 4390030.961983444
1024 4612660.689335208
4096 4577333.125973726
16384 4670483.354269259
65536 4713036.012725905
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [45.25483399593904:92681.90002368316]
set logscale y
set yrange [2807200.1503721736:6189876.331570643]
set xtics ('64' 64, '256' 256, '1,024' 1024, '4,096' 4096, '16,384' 16384, '65,536' 65536)
set mxtics 1
set ytics ('3 M' 3000000, '4 M' 4000000, '5 M' 5000000, '6 M' 6000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'Intel(R) Xeon(R) Processor, 2 threads'
