# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,550 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
524.288 2.0671656361938453 2.0615242431186127 2.0751775916845765
END
$band1 << END
0 8 8 8
524.288 2.0714581205568847 2.0660255728531363 2.075061273395835
END
$band2 << END
0 8 8 8
524.288 2.0725094146608996 2.0680464792503344 2.0770564931325306
END
$band3 << END
0 8 8 8
524.288 2.078740688514164 2.073973407466538 2.0845939921922385
END
$band4 << END
0 8 8 8
524.288 2.079946030401492 2.0747556850260933 2.0846063609991567
END
$band5 << END
0 8 8 8
524.288 2.083126227259836 2.0788923195968647 2.0863292117934784
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:524.288]
set yrange [1.9043385830720778:5.362423104095847]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.189518878044659 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.732678808560804 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.205237444049312 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.732678808560804 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.362423104095847 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.362423104095847 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.362423104095847 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.362423104095847 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band4 using 1:($4 <= 5.362423104095847 ? $3 : NaN):4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.18 noborder notitle, $band5 using 1:($4 <= 5.362423104095847 ? $3 : NaN):4 with filledcurves fc rgb '#17858f' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. instead=nothing fitness=zscore noise=table optimizer=sign_es', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. instead=rounding_down fitness=zscore noise=counter optimizer=sign_es', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. instead=nothing fitness=zscore noise=counter optimizer=sign_es', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. instead=small_noise fitness=zscore noise=counter optimizer=sign_es', $band4 using 1:2 with lines lc rgb '#6a51a3' lw 2 title '5. instead=rank_4 fitness=zscore noise=counter optimizer=sign_es', $band5 using 1:2 with lines lc rgb '#17858f' lw 2 title '6. instead=nothing fitness=zscore noise=counter optimizer=es_adamw'
