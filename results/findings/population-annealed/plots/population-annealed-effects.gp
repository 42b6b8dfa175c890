# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 1196,258 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 81
set ytics ('population=65536 steps=500 anneal=7.0 - population=16384 steps=2000 anneal=15.0' 0, 'population=131072 steps=250 anneal=3.0 - population=16384 steps=2000 anneal=15.0' 1, 'population=262144 steps=125 anneal=3.0 - population=16384 steps=2000 anneal=15.0' 2, 'population=65536 steps=2000 anneal=30.0 - population=16384 steps=2000 anneal=15.0' 3, 'population=262144 steps=500 anneal=7.0 - population=16384 steps=2000 anneal=15.0' 4, 'population=524288 steps=250 anneal=3.0 - population=16384 steps=2000 anneal=15.0' 5, 'population=1048576 steps=125 anneal=3.0 - population=16384 steps=2000 anneal=15.0' 6)
set yrange [6.6:-0.6]
set grid noytics
$rows << END
-0.0629917552631049 0 -0.07483714479918982 -0.051146365727019964
-0.08631881892973754 1 -0.08835426248144293 -0.08428337537803215
-0.09035529220844296 2 -0.09496811260315834 -0.08574247181372759
-0.25511146396270146 3 -0.2672357372692672 -0.24298719065613575
-0.30485369080996394 4 -0.3138241727589632 -0.2958832088609647
-0.32163988414521477 5 -0.3280580692168855 -0.315221699073544
-0.32803504935893607 6 -0.3352420320864554 -0.3208280666314167
END
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.3520041336907782:0.01676210160432277]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
