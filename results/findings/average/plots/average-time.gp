# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,226 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('kind=inverse_time average=0.5' 0, 'kind=inverse_time average=0.9' 1, 'kind=constant average=0.5' 2, 'kind=constant average=0.9' 3)
set yrange [3.6:-0.6]
set grid noytics
$bars << END
0 34.19246686541101 68.59968088015688 100
1 35.45371593966614 69.9827789738553 100
2 35.38758443060652 71.09672221838358 100
3 35.21373656097536 70.58227812507008 100
END
set xlabel '% of the time'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside: evaluation, checkpoints, monitor, start'
