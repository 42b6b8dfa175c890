# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,138 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('noise.distribution: uniform - gaussian' 0, 'noise.distribution: rademacher - gaussian' 1)
set yrange [1.6:-0.6]
set grid noytics
$rows << END
0.01324216441851321 0 -0.00398492187917107 0.030469250716197487
0.013591094082210198 1 -0.006380906132803524 0.03356309429722392
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.008378106154304897:0.035560294318725295]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
