# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
32768 3097611.5036257403
131072 3896436.7315799925
END
set logscale xy
set format x '%.0s%c'
set format y '%.0s%c'
set xlabel 'population'
set ylabel 'member tokens per second'
set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 title 'AMD EPYC, 2 threads'
