# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
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
set logscale xy
set format x '%.0s%c'
set format y '%.0s%c'
set xlabel 'population'
set ylabel 'member tokens per second'
set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $line0 with linespoints lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 title 'Intel(R) Xeon(R) Processor, 32 threads'
