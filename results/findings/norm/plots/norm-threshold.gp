# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
0.9582082027021358 28.333073929961085
0.9582082027021358 28.33399805447471
0.9582082027021358 28.36199740596629
0.9582082027021358 28.318498702983135
0.9582082027021358 28.352221141374834
0.9582082027021358 28.408850104004152
0.9582082027021358 28.359561882475298
0.9582082027021358 28.339931097243902
0.9582082027021358 28.359090613624545
0.9582082027021358 28.369994799791993
END
set xlabel 'threshold, in standard deviations of chance'
set ylabel 'share of the weights that a step changes'
set logscale y
set format y '%g %%'
set yrange [5.663699740596627:150]
set xrange [0:1.05]
set key bottom left
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes of chance alone', $runs with points lc rgb '#0b4f8a' pt 7 ps 0.6 title 'runs, mean over the last quarter'
