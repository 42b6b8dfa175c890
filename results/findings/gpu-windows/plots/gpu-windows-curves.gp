# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,510 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
131.072 2.233369067656754 2.2313680117642596 2.237279293749386
END
$band1 << END
0 8 8 8
131.072 2.4125822142952416 2.40705371632816 2.4207445424582503
END
$band2 << END
0 8 8 8
131.072 2.499812395329808 2.495181905218093 2.5050995807191927
END
$band3 << END
0 8 8 8
131.072 2.620089228032614 2.6183241235510266 2.6220307468469373
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:131.072]
set yrange [2.082674540150007:5.353930915663563]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.190368096887885 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.7326788085608036 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.2052374440493105 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.7326788085608036 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.353930915663563 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.353930915663563 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.353930915663563 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.353930915663563 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. tables=joint tokens=1 population=1048576', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. tables=rows tokens=1 population=1048576', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. tables=rows tokens=2 population=524288', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. tables=rows tokens=4 population=262144'
