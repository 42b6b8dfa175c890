# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,162 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('train.population: 1048576 - 262144' 0, 'train.population: 4194304 - 262144' 1, 'train.population: 16777216 - 262144' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
-0.24748299361386975 0 -0.25271236968650884 -0.24225361754123062
-0.4111623212736726 1 -0.42093557670368853 -0.40138906584365663
-0.5210889044066859 2 -0.5297502921505038 -0.5124275166628679
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.556237806758029:0.026487514607525194]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
