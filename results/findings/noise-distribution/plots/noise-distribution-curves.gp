# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,480 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.333in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,960 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'noise-distribution: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
1.6384 4.976907012787643 nan nan
3.2768 4.636714052824382 4.6169896515481605 4.656438454100603
4.9152 4.47585014904944 4.4494389211583485 4.502261376940531
6.5536 4.368993863672258 4.346277431619878 4.3917102957246374
8.192 4.293635751731985 4.274607968340904 4.312663535123066
9.8304 4.233623836610975 4.216250234630024 4.250997438591925
END
$band1 << END
1.6384 4.974343684589356 nan nan
3.2768 4.629786617788076 4.604242923540255 4.655330312035897
4.9152 4.475512425655341 4.455754981625749 4.495269869684933
6.5536 4.370239087251088 4.350786727014511 4.389691447487665
8.192 4.303647809287609 4.283846657560966 4.323448961014252
9.8304 4.247600347984771 4.226333899635903 4.268866796333639
END
$band2 << END
1.6384 4.942672098750247 nan nan
3.2768 4.616898909251633 4.598026685516845 4.635771132986421
4.9152 4.472413060843179 4.4585255434484665 4.486300578237891
6.5536 4.372554245831004 4.356462592208769 4.3886458994532385
8.192 4.296310252473707 4.281921294825499 4.310699210121915
9.8304 4.248697423267953 4.233306242096604 4.264088604439302
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [3.145728:9.961471999999999]
set yrange [4.198642705851201:4.674045982879426]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 4.187946132118066 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.223601377895183 left tc rgb '#555555'
set label 3 '▲ unigram 4.829' at graph 1.015, first 4.7168322778119665 left tc rgb '#555555'
plot $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band2 using 1:3:4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. distribution gaussian', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. distribution uniform', $band2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 pi 1 title '3. distribution rademacher'
