# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,420 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.0844501450526005 1.4068534685599676
1.0844501450526005 1.40581438185166
1.0844501450526005 1.4059024333578132
1.0844501450526005 1.437784806645289
1.0844501450526005 1.435288019359052
1.0844501450526005 1.4370513920901364
1.0844501450526005 1.5055250863619758
1.0844501450526005 1.502673075670134
1.0844501450526005 1.50351629997667
1.0844501450526005 1.5060105918760927
1.0844501450526005 1.5068959449324635
1.0844501450526005 1.5022610694829441
END
set xlabel 'threshold, in standard deviations of chance'
set ylabel 'share of the weights that a step changes'
set logscale y
set format y '%g %%'
set yrange [0.281162876370332:150]
set xrange [0:1.1386726523052306]
set key bottom left
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes of chance alone', $runs with points lc rgb '#0b4f8a' pt 7 ps 0.6 title 'runs, mean over the last quarter'
