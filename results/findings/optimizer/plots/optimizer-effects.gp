# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,138 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('optimizer: es_adamw - sign_es' 0, 'model: int8nativeformer - gru' 1)
set yrange [1.6:-0.6]
set grid noytics
$rows << END
-0.014904598911961654 0 -0.025721101118487247 -0.00408809670543606
0.1788314109052153 1 0.15261490246066417 0.2050479193497664
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.03725955214189993:0.2165863703731791]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
