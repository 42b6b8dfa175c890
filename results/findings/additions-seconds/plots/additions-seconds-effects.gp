# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 957,408 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 8.638in,3.683in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1914,816 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'additions-seconds on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 59.8
set rmargin 4
set ytics ('without context_tables, steps 270 against without nothing, steps 250' 0, 'without logit_tables, steps 512 against without nothing, steps 250' 1, 'without joint_tables, steps 203 against without nothing, steps 250' 2, 'without groups, steps 162 against without nothing, steps 250' 3, 'without zero_head, steps 250 against without nothing, steps 250' 4, 'without short_windows, steps 244 against without nothing, steps 250' 5, 'without many_pairs, steps 664 against without nothing, steps 250' 6, 'without small_groups, steps 308 against without nothing, steps 250' 7, 'without noise_of_signs, steps 244 against without nothing, steps 250' 8, 'without residual, steps 250 against without nothing, steps 250' 9, 'without wide_logits, steps 250 against without nothing, steps 250' 10, 'without narrow_core, steps 167 against without nothing, steps 250' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
0.029317140259991614 0 0.023688192016950403 0.034946088503032824
0.03631220658062624 1 0.026571676416150054 0.04605273674510243
0.2543961937626921 2 0.2471842221915192 0.26160816533386505
0.05787047024975171 3 0.0502529271621589 0.06548801333734453
0.0028525635443882535 4 -0.006700517734394829 0.012405644823171337
0.6535566876358848 5 0.6370243267785434 0.6700890484932263
0.5294373779111782 6 0.513745872252833 0.5451288835695234
0.06459397448473184 7 0.0595729865264993 0.06961496244296438
0.043313153097065446 8 0.03375198082221423 0.052874325371916664
0.048206594554655965 9 0.046103731759857096 0.050309457349454835
0.364826777117202 10 0.3535841689519556 0.37606938528244843
0.09810622009131623 11 0.09177850490998452 0.10443393527264794
END
set xrange [-0.04053999604577589:0.7039285268046073]
set xtics 0.2
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
