# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,510 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
134.217728 2.320824892530291 2.3147186336109287 2.328800215968375
END
$band1 << END
0 8 8 8
33.554432 2.5532715872582403 2.551946957779967 2.5552015386931783
END
$band2 << END
0 8 8 8
8.388608 2.901346968025076 2.893475656779782 2.905537434993936
END
$band3 << END
0 8 8 8
2.097152 3.396877031959516 3.373509428144378 3.412199140006136
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:134.217728]
set yrange [2.1701926930890094:5.349763384571229]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.190784849997119 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.7326788085608036 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.2052374440493105 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.7326788085608036 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.349763384571229 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.349763384571229 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.349763384571229 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.349763384571229 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. population=1048576', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. population=262144', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. population=65536', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. population=16384'
