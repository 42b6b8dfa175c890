# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 900,378 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 44
set ytics ('with: masks - nothing' 0, 'with: context_tables - nothing' 1, 'with: logit_tables - nothing' 2, 'with: groups - nothing' 3, 'with: zero_head - nothing' 4, 'with: short_windows - nothing' 5, 'with: many_pairs - nothing' 6, 'with: small_groups - nothing' 7, 'with: noise_of_signs - nothing' 8, 'with: residual - nothing' 9, 'with: wide_logits - nothing' 10, 'with: narrow_core - nothing' 11)
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
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.5809994529147906:0.33523856952151077]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
