# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1124,288 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 10.147in,2.600in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2248,576 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'population-annealed on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 78.5
set rmargin 4
set ytics ('population 65,536, steps 500, anneal 7.0 against population 16,384, steps 2,000, anneal...' 0, 'population 131,072, steps 250, anneal 3.0 against population 16,384, steps 2,000, annea...' 1, 'population 262,144, steps 125, anneal 3.0 against population 16,384, steps 2,000, annea...' 2, 'population 65,536, steps 2,000, anneal 30.0 against population 16,384, steps 2,000, ann...' 3, 'population 262,144, steps 500, anneal 7.0 against population 16,384, steps 2,000, annea...' 4, 'population 524,288, steps 250, anneal 3.0 against population 16,384, steps 2,000, annea...' 5, 'population 1,048,576, steps 125, anneal 3.0 against population 16,384, steps 2,000, ann...' 6)
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
set xrange [-0.3520041336907782:0.01676210160432277]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
