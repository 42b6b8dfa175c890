# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 942,408 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.501in,3.683in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1883,816 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'plain-additions-seconds: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 58.1
set rmargin 4
set ytics ('with masks, steps 1,000 against with nothing, steps 1,000' 0, 'with context_tables, steps 779 against with nothing, steps 1,000' 1, 'with logit_tables, steps 558 against with nothing, steps 1,000' 2, 'with groups, steps 1,000 against with nothing, steps 1,000' 3, 'with zero_head, steps 1,000 against with nothing, steps 1,000' 4, 'with short_windows, steps 363 against with nothing, steps 1,000' 5, 'with many_pairs, steps 138 against with nothing, steps 1,000' 6, 'with small_groups, steps 1,000 against with nothing, steps 1,000' 7, 'with noise_of_signs, steps 1,036 against with nothing, steps 1,000' 8, 'with residual, steps 1,000 against with nothing, steps 1,000' 9, 'with wide_logits, steps 1,000 against with nothing, steps 1,000' 10, 'with narrow_core, steps 1,725 against with nothing, steps 1,000' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
-0.02942928447365789 0 -0.04947878210726657 -0.009379786840049215
-0.16541717013749854 1 -0.2199485394016284 -0.11088580087336869
-0.14894476437995702 2 -0.16463709641754784 -0.1332524323423662
0.03464211075961723 3 0.007730859285253362 0.06155336223398109
-0.06684940749616652 4 -0.10318413440164062 -0.030514680590692435
0.23257457289457414 5 0.19078108997751209 0.2743680558116362
0.1464867587651441 6 0.12263068295378816 0.17034283457650007
0.0010097718525424958 7 -0.03562004583646831 0.037639589541553296
-0.012276509480191855 8 -0.04976383535745872 0.02521081639707501
0.021697466147841026 9 -0.005137400833934845 0.0485323331296169
-0.06583867945435165 10 -0.10509690837101 -0.026580450537693298
-0.0872431863810493 11 -0.11010118964471895 -0.06438518311737966
END
set xrange [-0.24466436916229162:0.2990838855722994]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
