# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 926,408 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.363in,3.683in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1853,816 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'plain-additions-seconds on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 56.4
set rmargin 4
set ytics ('with masks, steps 1,000 against with nothing, steps 1,000' 0, 'with context_tables, steps 665 against with nothing, steps 1,000' 1, 'with logit_tables, steps 399 against with nothing, steps 1,000' 2, 'with groups, steps 1,000 against with nothing, steps 1,000' 3, 'with zero_head, steps 1,000 against with nothing, steps 1,000' 4, 'with short_windows, steps 501 against with nothing, steps 1,000' 5, 'with many_pairs, steps 134 against with nothing, steps 1,000' 6, 'with small_groups, steps 1,000 against with nothing, steps 1,000' 7, 'with noise_of_signs, steps 930 against with nothing, steps 1,000' 8, 'with residual, steps 1,000 against with nothing, steps 1,000' 9, 'with wide_logits, steps 1,000 against with nothing, steps 1,000' 10, 'with narrow_core, steps 3,786 against with nothing, steps 1,000' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
-0.12245663316614638 0 -0.13046685755967335 -0.11444640877261941
-0.22966499561842646 1 -0.2773279705912857 -0.1820020206455672
-0.15402384097524618 2 -0.1949576964745816 -0.11308998547591075
0.014235732335106731 3 -0.0357849807663877 0.06425644543660115
-0.11532303883517284 4 -0.16414672062717242 -0.06649935704317325
0.1536481563429815 5 0.09829997487345662 0.2089963378125064
0.21319919293042044 6 0.15785532586623927 0.2685430599946016
-0.03168066005020975 7 -0.09816149037451735 0.03480017027409785
0.007658041092172674 8 -0.04438079516880151 0.05969687735314686
0.022000349117489115 9 -0.010943272930649842 0.054943971165628075
-0.005180664629936338 10 -0.04259823449191504 0.03223690523204236
-0.2901213005198876 11 -0.3505014846913666 -0.2297411163484086
END
set xrange [-0.381453711925665:0.2994952872289]
set xtics 0.2
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
