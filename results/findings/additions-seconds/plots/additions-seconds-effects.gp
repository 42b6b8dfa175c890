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
set ytics ('without context_tables, steps 303 against without nothing, steps 250' 0, 'without logit_tables, steps 412 against without nothing, steps 250' 1, 'without joint_tables, steps 240 against without nothing, steps 250' 2, 'without groups, steps 161 against without nothing, steps 250' 3, 'without zero_head, steps 250 against without nothing, steps 250' 4, 'without short_windows, steps 309 against without nothing, steps 250' 5, 'without many_pairs, steps 2,720 against without nothing, steps 250' 6, 'without small_groups, steps 378 against without nothing, steps 250' 7, 'without noise_of_signs, steps 243 against without nothing, steps 250' 8, 'without residual, steps 250 against without nothing, steps 250' 9, 'without wide_logits, steps 250 against without nothing, steps 250' 10, 'without narrow_core, steps 154 against without nothing, steps 250' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
0.03527660100083603 0 0.03209437172250084 0.03845883027917122
-0.005984026286963306 1 -0.015027040748378458 0.003058988174451845
0.14255751363847216 2 0.1374388231920801 0.14767620408486423
0.05219677768649618 3 0.046543120666583476 0.05785043470640888
0.003310722415138301 4 -0.0022763366128678688 0.00889778144314447
0.4215807140046891 5 0.41005867277486113 0.4331027552345171
0.29827959551240424 6 0.2891888160464333 0.30737037497837516
0.032175216795365634 7 0.028320162639801503 0.03603027095092976
0.0340941519521996 8 0.0281508540589524 0.0400374498454468
0.05306882056816793 9 0.04624280046364193 0.05989484067269393
0.34439656091112003 10 0.33752018652499 0.35127293529725007
0.07565402457779032 11 0.06838296104810675 0.08292508810747388
END
set xrange [-0.03743353054752324:0.45550924503366186]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
