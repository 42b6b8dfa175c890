# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 964,178 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 52
set ytics ('model=gru_tables steps=200 tokens=1 tables=joint' 0, 'model=int8nativeformer steps=50 tokens=4 tables=rows' 1)
set yrange [1.6:-0.6]
set grid noytics
$bars << END
0 22.530588243333217 50.30650314338627 100
1 40.40787070184671 57.9102133072219 100
END
set xlabel '% of the time'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside: evaluation, checkpoints, monitor, start'
