# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 972,312 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.775in,2.817in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1944,624 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'population on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 61.5
set rmargin 4
set ytics ('population 65,536, steps 500 against population 16,384, steps 2,000' 0, 'population 131,072, steps 250 against population 16,384, steps 2,000' 1, 'population 262,144, steps 125 against population 16,384, steps 2,000' 2, 'population 524,288, steps 63 against population 16,384, steps 2,000' 3, 'population 65,536, steps 2,000 against population 16,384, steps 2,000' 4, 'population 262,144, steps 500 against population 16,384, steps 2,000' 5, 'population 524,288, steps 250 against population 16,384, steps 2,000' 6, 'population 1,048,576, steps 125 against population 16,384, steps 2,000' 7)
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
set xrange [-0.45857829930089483:0.021837061871471185]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
