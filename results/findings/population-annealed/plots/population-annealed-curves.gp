# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,550 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
0 8 8 8
131.072 2.3223258379285445 2.3191165922325983 2.327740837272029
END
$band1 << END
0 8 8 8
131.072 2.334995897156706 2.325608411837778 2.340373841458966
END
$band2 << END
0 8 8 8
131.072 2.3472130660070856 2.34055278984254 2.3508515010606374
END
$band3 << END
0 8 8 8
65.536 2.4749664874143833 2.4737082277156466 2.4767747348682136
131.072 2.3913031869780563 2.387139971184149 2.395648189913376
END
$band4 << END
0 8 8 8
32.768 2.560282580249871 2.558931322360012 2.561068720742912
END
$band5 << END
0 8 8 8
32.768 2.5666460688459227 2.5614433347947845 2.573019104255371
END
set xlabel 'member tokens, millions'
set ylabel 'held-out bits per byte'
set xrange [0:131.072]
set yrange [2.1748105496417627:5.349543486640148]
set rmargin 18
set key bottom outside center vertical maxcols 1 reverse Left samplen 2 title ' '
set label 1 'unigram 5.205' at graph 1.01, first 5.190806839790229 left tc rgb '#555555'
set label 2 'bigram 3.733' at graph 1.01, first 3.732678808560804 left tc rgb '#555555'
set label 3 'gzip 2.772' at graph 1.01, first 2.772367914666639 left tc rgb '#555555'
plot 5.205237444049312 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 3.732678808560804 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:($4 <= 5.349543486640148 ? $3 : NaN):4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.18 noborder notitle, $band1 using 1:($4 <= 5.349543486640148 ? $3 : NaN):4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.18 noborder notitle, $band2 using 1:($4 <= 5.349543486640148 ? $3 : NaN):4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.18 noborder notitle, $band3 using 1:($4 <= 5.349543486640148 ? $3 : NaN):4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.18 noborder notitle, $band4 using 1:($4 <= 5.349543486640148 ? $3 : NaN):4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.18 noborder notitle, $band5 using 1:($4 <= 5.349543486640148 ? $3 : NaN):4 with filledcurves fc rgb '#17858f' fs transparent solid 0.18 noborder notitle, $band0 using 1:2 with lines lc rgb '#0b4f8a' lw 2 title '1. population=1048576 steps=125 anneal=3.0', $band1 using 1:2 with lines lc rgb '#d6761b' lw 2 title '2. population=524288 steps=250 anneal=3.0', $band2 using 1:2 with lines lc rgb '#3f7d2c' lw 2 title '3. population=262144 steps=500 anneal=7.0', $band3 using 1:2 with lines lc rgb '#b2182b' lw 2 title '4. population=65536 steps=2000 anneal=30.0', $band4 using 1:2 with lines lc rgb '#6a51a3' lw 2 title '5. population=262144 steps=125 anneal=3.0', $band5 using 1:2 with lines lc rgb '#17858f' lw 2 title '6. population=131072 steps=250 anneal=3.0'
