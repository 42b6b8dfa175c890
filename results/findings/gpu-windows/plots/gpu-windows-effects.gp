# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 1204,162 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 82
set ytics ('tables=rows tokens=1 population=1048576 - tables=joint tokens=1 population=1048576' 0, 'tables=rows tokens=2 population=524288 - tables=joint tokens=1 population=1048576' 1, 'tables=rows tokens=4 population=262144 - tables=joint tokens=1 population=1048576' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
0.17476281155665982 0 0.16648029518445523 0.1830453279288644
0.2604743340783555 1 0.24044864002545366 0.28050002813125735
0.3846161054530408 2 0.3690607087461764 0.4001715021599052
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.020008575107995263:0.42018007726790046]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
