# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.0844501450526005 0.5287167016398355
1.0844501450526005 0.5286914931403873
1.0844501450526005 0.5283651449250587
1.0844501450526005 1.4068534685599676
1.0844501450526005 1.40581438185166
1.0844501450526005 1.4059024333578132
1.0844501450526005 3.0527262008257643
1.0844501450526005 3.048061227955692
1.0844501450526005 3.051451503768576
1.0844501450526005 4.927001993738695
1.0844501450526005 4.905226420847585
1.0844501450526005 4.896577015471577
END
set xlabel 'threshold, in standard deviations of chance'
set ylabel 'share of the weights that a step changes'
set logscale y
set format y '%g %%'
set yrange [0.10567302898501175:150]
set xrange [0:1.1386726523052306]
set key bottom left
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes of chance alone', $runs with points lc rgb '#0b4f8a' pt 7 ps 0.6 title 'runs, mean over the last quarter'
