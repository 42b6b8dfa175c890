# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 736,408 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.648in,3.683in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1473,816 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'additions on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 35.1
set rmargin 4
set ytics ('without: context_tables against nothing' 0, 'without: logit_tables against nothing' 1, 'without: joint_tables against nothing' 2, 'without: groups against nothing' 3, 'without: zero_head against nothing' 4, 'without: short_windows against nothing' 5, 'without: many_pairs against nothing' 6, 'without: small_groups against nothing' 7, 'without: noise_of_signs against nothing' 8, 'without: residual against nothing' 9, 'without: wide_logits against nothing' 10, 'without: narrow_core against nothing' 11)
set yrange [11.6:-0.6]
set grid noytics
$rows << END
0.04207123735573424 0 0.038857569547404006 0.04528490516406447
0.2271677106342004 1 0.21025690502854835 0.24407851623985247
0.20211662086858243 2 0.19856796304662436 0.2056652786905405
-0.02294158251446605 3 -0.0297322171506206 -0.016150947878311502
0.0028525635443882535 4 -0.006700517734394829 0.012405644823171337
0.6440632324668935 5 0.6270157849776624 0.6611106799561245
0.28906594317924733 6 0.2845637594391175 0.29356812691937717
0.10770507748031041 7 0.09932796511694514 0.11608218984367569
0.040403661896062724 8 0.031211128626363025 0.04959619516576243
0.048206594554655965 9 0.046103731759857096 0.050309457349454835
0.364826777117202 10 0.3535841689519556 0.37606938528244843
0.018085736823918543 11 0.016142057536479418 0.020029416111357667
END
set xrange [-0.06427436200595786:0.6956528248114617]
set xtics 0.2
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
