# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,550 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
32.768 2.5666460688459227 2.5614433347947845 2.573019104255371
END
$band1 << END
0 8 8 8
32.768 2.5683103758479118 2.564425672963682 2.575693090270443
END
$band2 << END
0 8 8 8
32.768 2.575733292501912 2.570645632144133 2.584632304712535
END
$band3 << END
0 8 8 8
32.768 2.581140545023027 2.571961292557078 2.5893488603489994
END
$band4 << END
0 8 8 8
8.192 2.88595387240545 2.8825914913397175 2.8877890222432847
END
$band5 << END
0 8 8 8
8.192 2.9022405058613323 2.8982196514136507 2.9066634062179317
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:32.768]
set yrange [2.429253629332058:5.337427149512039]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.19201847350304 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.732678808560804 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.205237444049312 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.732678808560804 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.337427149512039 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.337427149512039 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.337427149512039 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.337427149512039 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band4 using 1:($4 <= 5.337427149512039 ? $3 : NaN):4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.18 noborder notitle, $band5 using 1:($4 <= 5.337427149512039 ? $3 : NaN):4 with filledcurves fc rgb '#17858f' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. population=131072 width=32', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. population=131072 width=128', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. population=131072 width=16', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. population=131072 width=64', $band4 using 1:2 with lines lc rgb '#6a51a3' lw 2 title '5. population=32768 width=32', $band5 using 1:2 with lines lc rgb '#17858f' lw 2 title '6. population=32768 width=128'
