# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,500 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.514in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1000 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'noise-source: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
1.6384 4.9528195983661325 4.920692905909294 4.984946290822971
3.2768 4.6194922938540754 4.59632297398146 4.642661613726691
4.9152 4.459511711708986 4.442024255333709 4.476999168084263
6.5536 4.352880410184413 4.336384268949077 4.36937655141975
8.192 4.284423175682581 4.2690167098150065 4.299829641550155
9.8304 4.2319815153600295 4.218485515654451 4.245477515065608
END
$band1 << END
1.6384 4.976907012787643 4.939168102897076 5.014645922678209
3.2768 4.636714052824382 4.6169896515481605 4.656438454100603
4.9152 4.47585014904944 4.4494389211583485 4.502261376940531
6.5536 4.368993863672258 4.346277431619878 4.3917102957246374
8.192 4.293635751731985 4.274607968340904 4.312663535123066
9.8304 4.233623836610975 4.216250234630024 4.250997438591925
END
$band2 << END
1.6384 4.975674542508469 4.940727446477476 5.010621638539462
3.2768 4.652186923593077 4.6273956071717715 4.676978240014383
4.9152 4.499767150950309 4.4783943406011035 4.521139961299515
6.5536 4.404965736608881 4.381231839272518 4.428699633945245
8.192 4.33779197766836 4.314579400283607 4.361004555053112
9.8304 4.273617894430177 4.249949853706254 4.2972859351540995
END
$band3 << END
1.6384 5.606090903580246 nan nan
3.2768 5.296503490792947 5.214560488093156 5.3784464934927385
4.9152 5.137361212651135 5.063649795880342 5.2110726294219285
6.5536 5.047030235659419 4.976521809682756 5.1175386616360825
8.192 4.980299064833445 4.911296895468346 5.049301234198544
9.8304 4.92346561239522 4.860243730558554 4.986687494231886
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [1.47456:9.99424]
set yrange [4.169762384275516:5.424934343847247]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 4.141521015185152 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.235658912153031 left tc rgb '#555555'
set label 3 'unigram 4.829' at graph 1.015, first 4.829140610294643 left tc rgb '#555555'
plot 4.829140610294643 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band2 using 1:3:4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.15 noborder notitle, $band3 using 1:3:4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. noise table, table log2 24', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. noise counter, table log2 null', $band2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 pi 1 title '3. noise table, table log2 16', $band3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 pi 1 title '4. noise table, table log2 12'
