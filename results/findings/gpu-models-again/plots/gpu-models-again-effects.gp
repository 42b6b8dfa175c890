# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 1268,114 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 90
set ytics ('model=int8nativeformer steps=50 tokens=4 tables=rows - model=gru_tables steps=200 token...' 0)
set yrange [0.6:-0.6]
set grid noytics
$rows << END
0.31255512516904466 0 0.309709604938392 0.3154006453996973
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.015770032269984868:0.33117067766968217]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
