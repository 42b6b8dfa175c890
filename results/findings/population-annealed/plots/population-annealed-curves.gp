# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'population-annealed on a withdrawn text: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
65536000 2.4749664874143833 2.4709781260448085 2.478954848783958
131072000 2.3913031869780563 2.380728159517427 2.401878214438686
END
$band1 << END
16384000 2.767765989672345 2.755517126319734 2.7800148530249564
32768000 2.6350241636905163 2.6178141233761747 2.652234204004858
END
set xlabel 'member tokens'
set ylabel 'held-out bits per byte'
set rmargin 17
set logscale x
set xrange [15603809.523809522:137625600]
set yrange [2.3647566917771257:2.7959863207652575]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 'gzip 2.772' at graph 1.015, first 2.770112543025969 left tc rgb '#555555'
set label 2 '▲ bigram 3.733' at graph 1.015, first 2.8024547652000793 left tc rgb '#555555'
set label 3 '▲ unigram 5.205' at graph 1.015, first 2.8347969873741894 left tc rgb '#555555'
set xtics ('20 M' 20000000, '50 M' 50000000, '100 M' 100000000)
set mxtics 1
plot 2.772367914666639 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '4. population 65,536, steps 2,000, anneal 30.0', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '8. population 16,384, steps 2,000, anneal 15.0'
