# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,162 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('train.population: 65536 - 16384' 0, 'train.population: 262144 - 16384' 1, 'train.population: 1048576 - 16384' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
-0.49139543054789964 0 -0.5377089034359737 -0.44508195765982556
-0.838732199071036 1 -0.8798875187196028 -0.7975768794224692
-1.0741522820601153 2 -1.12093261839187 -1.0273719457283605
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-1.1769792493114635:0.0560466309195935]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
