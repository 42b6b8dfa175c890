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
8192 5268848.257141602
16384 9842219.02872064
131072 8047258.241809927
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [7131.550214521849:150562.19078617138]
set logscale y
set yrange [4849534.590937435:10693223.773017043]
set xtics ('8,192' 8192, '16,384' 16384, '131,072' 131072)
set mxtics 1
set ytics ('5 M' 5000000, '6 M' 6000000, '8 M' 8000000, '10 M' 10000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'AMD EPYC, 2 threads'
