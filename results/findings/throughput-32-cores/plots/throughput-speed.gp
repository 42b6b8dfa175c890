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
64 2108181.12719653
256 6836237.925778391
1024 19344083.032070935
4096 25476828.67148544
16384 28654602.041631274
65536 29987612.55771073
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [45.25483399593904:92681.90002368316]
set logscale y
set yrange [1797735.8658726614:35166077.53339746]
set xtics ('64' 64, '256' 256, '1,024' 1024, '4,096' 4096, '16,384' 16384, '65,536' 65536)
set mxtics 1
set ytics ('2 M' 2000000, '5 M' 5000000, '10 M' 10000000, '20 M' 20000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'Intel(R) Xeon(R) Processor, 32 threads'
