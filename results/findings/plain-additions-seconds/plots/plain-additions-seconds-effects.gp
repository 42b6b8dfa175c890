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
set ytics ('with masks, steps 1,000 against with nothing, steps 1,000' 0, 'with context_tables, steps 795 against with nothing, steps 1,000' 1, 'with logit_tables, steps 682 against with nothing, steps 1,000' 2, 'with groups, steps 1,000 against with nothing, steps 1,000' 3, 'with zero_head, steps 1,000 against with nothing, steps 1,000' 4, 'with short_windows, steps 485 against with nothing, steps 1,000' 5, 'with many_pairs, steps 130 against with nothing, steps 1,000' 6, 'with small_groups, steps 1,000 against with nothing, steps 1,000' 7, 'with noise_of_signs, steps 1,000 against with nothing, steps 1,000' 8, 'with residual, steps 1,000 against with nothing, steps 1,000' 9, 'with wide_logits, steps 1,000 against with nothing, steps 1,000' 10, 'with narrow_core, steps 3,100 against with nothing, steps 1,000' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
-0.02942928447365789 0 -0.04947878210726657 -0.009379786840049215
-0.18183800971489897 1 -0.21495631407815383 -0.1487197053516441
-0.21983046982993953 2 -0.24049349561712074 -0.19916744404275832
0.03464211075961723 3 0.007730859285253362 0.06155336223398109
-0.06684940749616652 4 -0.10318413440164062 -0.030514680590692435
0.17214442242742178 5 0.12783938736998507 0.2164494574848585
0.1674140085955483 6 0.14832524320743365 0.18650277398366297
0.0010097718525424958 7 -0.03562004583646831 0.037639589541553296
-0.011344732804963176 8 -0.03948186012051477 0.01679239451058842
0.021697466147841026 9 -0.005137400833934845 0.0485323331296169
-0.06583867945435165 10 -0.10509690837101 -0.026580450537693298
-0.18901147873874863 11 -0.21359472146306344 -0.16442823601443382
END
set xrange [-0.26334064327221973:0.23929660513995746]
set xtics 0.1
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
