# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,510 noenhanced font 'DejaVu Sans,13' background '#ffffff'
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
32.768 2.5666460688459227 2.5614433347947845 2.573019104255371
END
$band2 << END
0 8 8 8
32.768 2.849676763367077 2.846186461707556 2.854860702599867
END
$band3 << END
0 8 8 8
32.768 2.849676763367077 2.846186461707556 2.854860702599867
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:32.768]
set yrange [2.429253629332058:5.3374271495120365]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.192018473503038 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.7326788085608036 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.2052374440493105 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.7326788085608036 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.3374271495120365 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.3374271495120365 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.3374271495120365 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.3374271495120365 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. kind=inverse_time average=0.5', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. kind=inverse_time average=0.9', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. kind=constant average=0.5', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. kind=constant average=0.9'
