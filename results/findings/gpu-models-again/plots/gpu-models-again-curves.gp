# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,470 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
838.8608 2.0360067393961394 2.034758447171 2.0379221915587533
END
$band1 << END
0 8 8 8
838.8608 2.350588264790917 2.3492593877311956 2.3519027774689834
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:838.8608]
set yrange [1.8762344973270844:5.363761393893226]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.189385049064919 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.7326788085608023 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.2052374440493105 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.7326788085608023 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.363761393893226 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.363761393893226 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. model=gru_tables steps=200 tokens=1 tables=joint', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. model=int8nativeformer steps=50 tokens=4 tables=rows'
