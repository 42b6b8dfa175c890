# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.08659409375751 1.08975085220658
1.08659409375751 1.0889756626277576
1.08659409375751 1.0909030073129549
1.08659409375751 1.08975085220658
1.08659409375751 1.0889756626277576
1.08659409375751 1.0909030073129549
0 10.42556645163677
0 10.378962328599133
0 10.386477394479344
0 10.42556645163677
0 10.378962328599133
0 10.386477394479344
END
set xlabel 'threshold, in standard deviations of chance'
set ylabel 'share of the weights that a step changes'
set logscale y
set format y '%g %%'
set yrange [0.21779513252555152:150]
set xrange [0:1.1409237984453855]
set key bottom left
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes of chance alone', $runs with points lc rgb '#0b4f8a' pt 7 ps 0.6 title 'runs, mean over the last quarter'
