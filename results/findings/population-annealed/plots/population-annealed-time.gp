# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,322 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('population=16384 steps=2000 anneal=15.0' 0, 'population=65536 steps=500 anneal=7.0' 1, 'population=131072 steps=250 anneal=3.0' 2, 'population=262144 steps=125 anneal=3.0' 3, 'population=65536 steps=2000 anneal=30.0' 4, 'population=262144 steps=500 anneal=7.0' 5, 'population=524288 steps=250 anneal=3.0' 6, 'population=1048576 steps=125 anneal=3.0' 7)
set yrange [7.6:-0.6]
set grid noytics
$bars << END
0 30.259050382878428 72.97814174630015 100
1 45.48920199955477 90.05408279207138 100
2 48.26119832854101 88.80100694788268 99.99999999999999
3 50.03782361422058 89.23649210244847 100
4 45.33857997585866 89.2639914004992 100
5 53.23560128043609 97.21769013821235 100
6 55.654957965821254 97.0505654861169 100
7 56.93453364889214 95.59093084169639 100
END
set xlabel '% of the time'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside: evaluation, checkpoints, monitor, start'
