# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,410 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.701in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,820 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'additions-seconds: speed'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
8192 1235702.3863898967
16384 2516732.441613797
131072 2208427.2731284928
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [7131.550214521849:150562.19078617138]
set logscale y
set yrange [1176859.4156094254:2642569.063694487]
set xtics ('8,192' 8192, '16,384' 16384, '131,072' 131072)
set mxtics 1
set ytics ('1.5 M' 1500000, '2 M' 2000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'Intel(R) Xeon(R) Processor, 2 threads'
