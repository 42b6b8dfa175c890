# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,500 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.514in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1000 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'optimizer: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
1.6384 4.882573767761285 4.844333056298183 4.897382194291138
3.2768 4.543023760370829 4.521729572139422 4.564317948602237
4.9152 4.3850634504660455 4.362966533445505 4.407160367486586
6.5536 4.289682995620246 4.269332526504004 4.310033464736487
8.192 4.236894484291283 4.216978470646275 4.256810497936291
9.8304 4.208809938235882 4.188856019185452 4.228763857286313
END
$band1 << END
1.6384 4.976907012787643 nan nan
3.2768 4.636714052824382 4.6169896515481605 4.656438454100603
4.9152 4.47585014904944 4.4494389211583485 4.502261376940531
6.5536 4.368993863672258 4.346277431619878 4.3917102957246374
8.192 4.293635751731985 4.274607968340904 4.312663535123066
9.8304 4.233623836610975 4.216250234630024 4.250997438591925
END
$band2 << END
1.6384 5.011646763304689 nan nan
3.2768 4.801286923391657 4.772971821537044 4.8296020252462695
4.9152 4.629006995541258 4.59749422927498 4.660519761807536
6.5536 4.501629631034797 4.46636520274451 4.536894059325085
8.192 4.425959157164204 4.391165238068426 4.460753076259982
9.8304 4.388153361755136 4.353360525537839 4.422946197972433
END
$band3 << END
1.6384 5.095215377476212 nan nan
3.2768 4.835686011698623 4.801240835840942 4.8701311875563045
4.9152 4.680605038347868 4.642036773348201 4.719173303347535
6.5536 4.578878319963306 4.544264584165312 4.6134920557613
8.192 4.467931015196728 4.436935979702614 4.498926050690843
9.8304 4.394532373395573 4.368217729705838 4.420847017085308
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [1.47456:9.99424]
set yrange [4.161605012450618:4.897382194291138]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 4.145050025859207 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.200233314497246 left tc rgb '#555555'
set label 3 'unigram 4.829' at graph 1.015, first 4.829140610294643 left tc rgb '#555555'
plot 4.829140610294643 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band2 using 1:3:4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.15 noborder notitle, $band3 using 1:3:4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. optimizer es_adamw, model gru', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. optimizer sign_es, model gru', $band2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 pi 1 title '3. optimizer es_adamw, model int8nativeformer', $band3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 pi 1 title '4. optimizer sign_es, model int8nativeformer'
