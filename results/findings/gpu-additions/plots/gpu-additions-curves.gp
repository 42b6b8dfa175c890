# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,550 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
524.288 2.0565145644693774 2.052709649028051 2.060539576002235
END
$band1 << END
0 8 8 8
524.288 2.0725094146608996 2.0680464792503344 2.0770564931325306
END
$band2 << END
0 9.129838582641144 8.980212804501111 9.216668111067882
524.288 2.0747436842580442 2.0701246381217073 2.0793793835711116
END
$band3 << END
0 8 8 8
524.288 2.0785789319386474 2.072418056889333 2.0823948256798532
END
$band4 << END
0 8 8 8
524.288 2.084824136474453 2.0816916249423905 2.0886073005236905
END
$band5 << END
0 8 8 8
524.288 2.091686025449089 2.0864506022197506 2.099262040218836
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:524.288]
set yrange [1.895083259276988:5.362863833800375]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.189474805074206 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.732678808560804 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.205237444049312 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.732678808560804 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.362863833800375 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.362863833800375 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.362863833800375 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.362863833800375 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band4 using 1:($4 <= 5.362863833800375 ? $3 : NaN):4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.18 noborder notitle, $band5 using 1:($4 <= 5.362863833800375 ? $3 : NaN):4 with filledcurves fc rgb '#17858f' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. without=groups', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. without=nothing', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. without=zero_head', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. without=narrow_core', $band4 using 1:2 with lines lc rgb '#6a51a3' lw 2 title '5. without=context_tables', $band5 using 1:2 with lines lc rgb '#17858f' lw 2 title '6. without=residual'
