# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,408 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.683in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,816 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'plain-additions on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 32.6
set rmargin 4
set ytics ('with: masks against nothing' 0, 'with: context_tables against nothing' 1, 'with: logit_tables against nothing' 2, 'with: groups against nothing' 3, 'with: zero_head against nothing' 4, 'with: short_windows against nothing' 5, 'with: many_pairs against nothing' 6, 'with: small_groups against nothing' 7, 'with: noise_of_signs against nothing' 8, 'with: residual against nothing' 9, 'with: wide_logits against nothing' 10, 'with: narrow_core against nothing' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
-0.12245663316614638 0 -0.13046685755967335 -0.11444640877261941
-0.3535031237899446 1 -0.40788703577052043 -0.29911921180936873
-0.49892986185816157 2 -0.5393522700767769 -0.45850745363954626
0.014235732335106731 3 -0.0357849807663877 0.06425644543660115
-0.11532303883517284 4 -0.16414672062717242 -0.06649935704317325
0.014727899623698448 5 -0.04395183645273208 0.07340763570012898
0.2381948514190789 6 0.18279831615466077 0.29359138668349705
-0.03168066005020975 7 -0.09816149037451735 0.03480017027409785
-0.016617999090531653 8 -0.06766577088682224 0.03442977270575893
0.022000349117489115 9 -0.010943272930649842 0.054943971165628075
-0.005180664629936338 10 -0.04259823449191504 0.03223690523204236
0.007162321819253315 11 -0.03408484551077354 0.04840948914928017
END
set xrange [-0.5809994529147906:0.33523856952151077]
set xtics 0.2
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
