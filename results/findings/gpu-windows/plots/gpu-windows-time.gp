# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,226 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('tables=joint tokens=1 population=1048576' 0, 'tables=rows tokens=1 population=1048576' 1, 'tables=rows tokens=2 population=524288' 2, 'tables=rows tokens=4 population=262144' 3)
set yrange [3.6:-0.6]
set grid noytics
$bars << END
0 12.064576972265453 24.578066696547555 100
1 10.587023724465078 23.93645583310195 100
2 11.502234797671724 22.173579233289704 100
3 10.630734868759935 20.158490090795958 100
END
set xlabel '% of the time'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside: evaluation, checkpoints, monitor, start'
