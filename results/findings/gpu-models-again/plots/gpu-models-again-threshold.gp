# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.0868796515969092 2.9783043533300195
1.0868796515969092 2.9795608386468304
1.0868796515969092 2.992560512458013
1.0801867681427206 6.723352463545619
1.0801867681427206 6.711317863503139
1.0801867681427206 6.743601359620345
END
set xlabel 'threshold, in standard deviations of chance'
set ylabel 'share of the weights that a step changes'
set logscale y
set format y '%g %%'
set yrange [0.5956608706660039:150]
set xrange [0:1.1412236341767548]
set key bottom left
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes of chance alone', $runs with points lc rgb '#0b4f8a' pt 7 ps 0.6 title 'runs, mean over the last quarter'
