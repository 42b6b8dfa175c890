# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,162 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('model.shift_rule: inverse - inverse_sqrt' 0, 'model.init_std: 16 - 4' 1, 'model.init_std: 32 - 4' 2)
set yrange [2.6:-0.6]
set grid noytics
$rows << END
0.17912784296356452 0 0.13989973648829876 0.21835594943883027
0.05969443877761771 1 0.030888908377628168 0.08849996917760725
0.36957573692577456 2 0.3399611944235106 0.39919027942803853
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.01995951397140193:0.4191497933994405]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
