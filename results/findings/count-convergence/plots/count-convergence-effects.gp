# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,138 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('train.population: 512 - 128' 0, 'noise.rank: 4 - 1' 1)
set yrange [1.6:-0.6]
set grid noytics
$rows << END
-0.00882054641842842 0 -0.009767188380608588 -0.007873904456248254
0.0006614699959754944 1 0.0002690616897963449 0.0010538783021546438
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.010308241714746749:0.0015949316362928053]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
