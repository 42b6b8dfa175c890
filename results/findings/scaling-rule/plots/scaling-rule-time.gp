# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,274 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('shift_rule=inverse_sqrt init_std=4' 0, 'shift_rule=inverse_sqrt init_std=16' 1, 'shift_rule=inverse_sqrt init_std=32' 2, 'shift_rule=inverse init_std=4' 3, 'shift_rule=inverse init_std=16' 4, 'shift_rule=inverse init_std=32' 5)
set yrange [5.6:-0.6]
set grid noytics
$bars << END
0 89.58414441942078 96.36679474477037 100
1 89.83656564995586 96.39712256978046 99.99999999999999
2 90.08746935181448 96.62070899582721 100
3 89.70167098585678 96.41522931410037 100
4 89.71439059738864 96.57026504096227 100
5 89.8367540024195 96.31585204060126 100
END
set xlabel '% of the time'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside: evaluation, checkpoints, monitor, start'
