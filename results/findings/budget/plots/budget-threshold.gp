# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.0861451495579761 0.21408589384999416
1.0861451495579761 0.2144009090444066
1.0861451495579761 0.21427724055995281
1.0861451495579761 0.6535284506886174
1.0861451495579761 0.6542836193061938
1.0861451495579761 0.6543994491543947
1.0861451495579761 1.7081585186805002
1.0861451495579761 1.70496231474839
1.0861451495579761 1.70330850247468
1.0861451495579761 3.6963578465331186
1.0861451495579761 3.6874739421334852
1.0861451495579761 3.696927967344869
END
set xlabel 'threshold, in standard deviations of chance'
set ylabel 'share of the weights that a step changes'
set logscale y
set format y '%g %%'
set yrange [0.04281717876999883:150]
set xrange [0:1.140452407035875]
set key bottom left
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes of chance alone', $runs with points lc rgb '#0b4f8a' pt 7 ps 0.6 title 'runs, mean over the last quarter'
