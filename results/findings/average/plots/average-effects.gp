# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 932,138 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 48
set ytics ('optimizer.schedule.kind: constant - inverse_time' 0, 'optimizer.average: 0.9 - 0.5' 1)
set yrange [1.6:-0.6]
set grid noytics
$rows << END
0.28350135895096146 0 0.27016640157742194 0.29683631632450097
0 1 0 0
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.014841815816225049:0.31167813214072604]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
