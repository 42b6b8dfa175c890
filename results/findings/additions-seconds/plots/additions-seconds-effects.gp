# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 957,408 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.638in,3.683in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1914,816 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'additions-seconds: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 59.8
set rmargin 4
set ytics ('without context_tables, steps 294 against without nothing, steps 250' 0, 'without logit_tables, steps 375 against without nothing, steps 250' 1, 'without joint_tables, steps 219 against without nothing, steps 250' 2, 'without groups, steps 158 against without nothing, steps 250' 3, 'without zero_head, steps 250 against without nothing, steps 250' 4, 'without short_windows, steps 286 against without nothing, steps 250' 5, 'without many_pairs, steps 2,399 against without nothing, steps 250' 6, 'without small_groups, steps 354 against without nothing, steps 250' 7, 'without noise_of_signs, steps 250 against without nothing, steps 250' 8, 'without residual, steps 250 against without nothing, steps 250' 9, 'without wide_logits, steps 250 against without nothing, steps 250' 10, 'without narrow_core, steps 194 against without nothing, steps 250' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
0.03730185806314044 0 0.03329435379995625 0.04130936232632462
0.008093195753860537 1 -0.004909603132414829 0.021095994640135902
0.15808779786979849 2 0.15451580480738758 0.1616597909322094
0.055171740611386876 3 0.048311794900358265 0.062031686322415486
0.003310722415138301 4 -0.0022763366128678688 0.00889778144314447
0.43265039306884195 5 0.4236537757230707 0.4416470104146132
0.2951387742941292 6 0.28896293958299857 0.30131460900525986
0.03717694732855668 7 0.03247696845446217 0.04187692620265118
0.031043345112105845 8 0.025582357047411894 0.0365043331767998
0.05306882056816793 9 0.04624280046364193 0.05989484067269393
0.34439656091112003 10 0.33752018652499 0.35127293529725007
0.047971499821021626 11 0.03950203145420969 0.05644096818783356
END
set xrange [-0.02723743380976623:0.4639748410919646]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
