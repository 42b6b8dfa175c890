# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,410 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.701in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,820 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'population-annealed on a withdrawn text: speed'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
16384 2757225.914608537
65536 4126311.6386368917
131072 5720535.337680462
262144 3616529.480915317
524288 3625375.9996608323
1048576 4433841.488314736
END
set xlabel 'population (members)'
set ylabel 'member tokens per second'
set logscale x
set xrange [13307.943261900562:1290948.484367559]
set logscale y
set yrange [2625929.442484321:6006562.104564485]
set xtics ('16,384' 16384, '65,536' 65536, '131,072' 131072, '262,144' 262144, '524,288' 524288, '1,048,576' 1048576)
set mxtics 1
set ytics ('3 M' 3000000, '4 M' 4000000, '5 M' 5000000, '6 M' 6000000)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'AMD EPYC, 2 threads'
