# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 835,216 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 7.540in,1.950in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1670,432 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'rank: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 46.2
set rmargin 4
set ytics ('rank 4, sigma shift 5 against rank 1, sigma shift 4' 0, 'rank 16, sigma shift 6 against rank 1, sigma shift 4' 1, 'population: 512 against 128' 2, 'population: 2,048 against 128' 3)
set yrange [3.6:-0.6]
set grid noytics
$rows << END
-0.010138259625762239 0 -0.031163589130607426 0.010887069879082946
-0.028381902588257683 1 -0.05116390561771228 -0.005599899558803082
-0.4364174807761474 2 -0.46387334114241224 -0.40896162040988254
-0.8071001366102264 3 -0.8293315967244124 -0.7848686764960404
END
set xrange [-0.8713425300545872:0.052898003209257714]
set xtics 0.2
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
