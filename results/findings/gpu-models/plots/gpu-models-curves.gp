# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,470 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
838.8608 2.041789486406269 2.039308096792284 2.0443858652711224
END
$band1 << END
0 8 8 8
838.8608 2.34893205324702 2.344972581194286 2.355666180578438
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:838.8608]
set yrange [1.8810116294294328:5.363533911412162]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.1894077973130255 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.7326788085608023 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.2052374440493105 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.7326788085608023 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.363533911412162 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.363533911412162 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. model=gru_tables steps=200 tokens=1 tables=joint', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. model=int8nativeformer steps=50 tokens=4 tables=rows'
