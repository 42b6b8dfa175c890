# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,550 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8.579871526810386 8.511255127310928 8.793821415903514
41.94304 4.365480774253767 4.3046032002220285 4.38788813827209
END
$band1 << END
0 8.579871526810386 8.511255127310928 8.793821415903514
10.48576 4.678294110915459 4.608736337308599 4.734872308310847
END
$band2 << END
0 8.579871526810386 8.511255127310928 8.793821415903514
2.62144 5.180930263144712 5.020340703788127 5.384728950235863
END
$band3 << END
0 8.579871526810386 8.511255127310928 8.793821415903514
0.65536 5.891998839646243 5.631675574857547 6.075295184144289
END
$band4 << END
0 8.579871526810386 8.511255127310928 8.793821415903514
0.16384 6.747398463679223 6.519120537366993 6.833196911161914
END
$band5 << END
0 8.579871526810386 8.511255127310928 8.793821415903514
0.04096 7.65575017812605 7.384422052529712 7.939954220054787
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:41.94304]
set yrange [3.107427216250972:4.911126962391961]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 4.829' at graph 1.01, first 4.820941975084912 left tc rgb '#555555'
set label 2 'bigram 3.589' at graph 1.01, first 3.5889171626811245 left tc rgb '#555555'
set label 3 'gzip 3.189' at graph 1.01, first 3.18941356834829 left tc rgb '#555555'
plot 4.829140610294643 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.5889171626811245 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.18941356834829 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 4.911126962391961 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 4.911126962391961 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 4.911126962391961 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 4.911126962391961 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band4 using 1:($4 <= 4.911126962391961 ? $3 : NaN):4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.18 noborder notitle, $band5 using 1:($4 <= 4.911126962391961 ? $3 : NaN):4 with filledcurves fc rgb '#17858f' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. population=65536', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. population=16384', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. population=4096', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. population=1024', $band4 using 1:2 with lines lc rgb '#6a51a3' lw 2 title '5. population=256', $band5 using 1:2 with lines lc rgb '#17858f' lw 2 title '6. population=64'
