# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 1012,282 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 58
set ytics ('population=65536 steps=500 - population=16384 steps=2000' 0, 'population=131072 steps=250 - population=16384 steps=2000' 1, 'population=262144 steps=125 - population=16384 steps=2000' 2, 'population=524288 steps=63 - population=16384 steps=2000' 3, 'population=65536 steps=2000 - population=16384 steps=2000' 4, 'population=262144 steps=500 - population=16384 steps=2000' 5, 'population=524288 steps=250 - population=16384 steps=2000' 6, 'population=1048576 steps=125 - population=16384 steps=2000' 7)
set yrange [7.6:-0.6]
set grid noytics
$rows << END
-0.15654207512366872 0 -0.16363673744873566 -0.14944741279860177
-0.19199336247931864 1 -0.20117683430056954 -0.18280989065806774
-0.19602983575802405 2 -0.20154995451837313 -0.19050971699767497
-0.15371476008333987 3 -0.1728881510222171 -0.13454136914446263
-0.24021830927717636 4 -0.26058968723098785 -0.21984693132336489
-0.3892986807787279 5 -0.39941590491527046 -0.3791814566421854
-0.42731442769479583 6 -0.43606604143457167 -0.41856281395502
-0.4337095929085171 7 -0.43674123742942367 -0.4306779483876106
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.45857829930089483:0.021837061871471185]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
