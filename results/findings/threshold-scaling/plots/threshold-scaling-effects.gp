# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,186 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('train.population: 512 - 256' 0, 'train.population: 1024 - 256' 1, 'train.population: 2048 - 256' 2, 'train.population: 4096 - 256' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.4264115916459755 0 -0.502428564291628 -0.35039461900032304
-0.7602356441315647 1 -0.8690471991039767 -0.6514240891591528
-1.0204354572096068 2 -1.1890406609754358 -0.8518302534437777
-1.2359545996717136 3 -1.4276189377223758 -1.0442902616210514
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-1.4989998846084946:0.07138094688611879]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
