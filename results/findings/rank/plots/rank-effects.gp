# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,186 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('rank=4 sigma_shift=5 - rank=1 sigma_shift=4' 0, 'rank=16 sigma_shift=6 - rank=1 sigma_shift=4' 1, 'train.population: 512 - 128' 2, 'train.population: 2048 - 128' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.010138259625762239 0 -0.031163589130607426 0.010887069879082946
-0.028381902588257683 1 -0.05116390561771228 -0.005599899558803082
-0.4364174807761474 2 -0.46387334114241224 -0.40896162040988254
-0.8071001366102264 3 -0.8293315967244124 -0.7848686764960404
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.8713425300545872:0.052898003209257714]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
