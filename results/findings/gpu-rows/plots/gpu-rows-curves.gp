# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,550 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
1.048576 1.9749323004685546 1.9741534190804106 1.9760824588779478
END
$band1 << END
0 8 8 8
1.048576 2.0078205571174768 2.0071389283318104 2.0083014085148965
END
$band2 << END
0 8 8 8
1.048576 2.0804374917494717 2.079572424226624 2.081764722956756
END
$band3 << END
0 8 8 8
1.048576 2.1752281600699597 2.1729280855576576 2.178223650001514
END
$band4 << END
0 8 8 8
0.065536 2.3401145896640365 2.338491582956342 2.3412394707416904
END
$band5 << END
0 8 8 8
0.065536 2.352983859592842 2.3509667701824806 2.3549449488856693
END
set xlabel 'member tokens, billions'
set ylabel 'held-out bits per byte'
set xrange [0:1.048576]
set yrange [1.8125992178319654:5.3667916452977575]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.189082023924468 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.732678808560804 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.205237444049312 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.732678808560804 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.3667916452977575 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.3667916452977575 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.3667916452977575 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.3667916452977575 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band4 using 1:($4 <= 5.3667916452977575 ? $3 : NaN):4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.18 noborder notitle, $band5 using 1:($4 <= 5.3667916452977575 ? $3 : NaN):4 with filledcurves fc rgb '#17858f' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. rows=bits_20 population=8388608', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. rows=bits_18 population=8388608', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. rows=bits_16 population=8388608', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. rows=bits_14 population=8388608', $band4 using 1:2 with lines lc rgb '#6a51a3' lw 2 title '5. rows=bits_20 population=524288', $band5 using 1:2 with lines lc rgb '#17858f' lw 2 title '6. rows=bits_18 population=524288'
