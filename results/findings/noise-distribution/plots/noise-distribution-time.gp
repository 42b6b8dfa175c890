# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,202 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('distribution=gaussian' 0, 'distribution=uniform' 1, 'distribution=rademacher' 2)
set yrange [2.6:-0.6]
set grid noytics
$bars << END
0 89.61685228902387 96.53166652750296 100
1 89.9987957650816 96.57101347438457 100
2 89.9836486151136 96.57561365882484 100
END
set xlabel '% of the time'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside: evaluation, checkpoints, monitor, start'
