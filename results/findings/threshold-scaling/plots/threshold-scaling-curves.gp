# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,520 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.694in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1040 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'threshold-scaling: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
6553600 5.614841475361461 5.480279178951072 5.749403771771849
13107200 5.064394175418038 5.0054270338879965 5.12336131694808
19660800 4.825351343129586 4.768826375540725 4.881876310718446
26214400 4.6699065913438655 4.598868698841701 4.74094448384603
END
$band1 << END
3276800 6.120507096663623 6.000330981448348 6.240683211878897
6553600 5.380453718739986 5.2674409629434775 5.493466474536494
9830400 5.0672214885370215 4.979848085373921 5.154594891700122
13107200 4.880682936514228 4.796795102561926 4.96457077046653
END
$band2 << END
1638400 6.646764354756454 6.484517438901267 6.809011270611641
3276800 5.795969948585402 5.664344508145144 5.92759538902566
4915200 5.386843539019196 5.268451112204741 5.505235965833651
6553600 5.1384113071129764 5.057078023364631 5.219744590861322
END
$band3 << END
819200 7.190096318047632 6.925441018771883 7.454751617323382
1638400 6.295153995329626 6.149815987254864 6.440492003404388
2457600 5.7805572287172735 5.632779323432347 5.9283351340022
3276800 5.474395648386894 5.329321023573328 5.619470273200459
END
$band4 << END
409600 7.632399904523112 7.388732981113732 7.876066827932492
819200 6.862079865981871 6.6657216180752625 7.058438113888479
1228800 6.272355680401377 6.103548327869234 6.44116303293352
1638400 5.906386700719045 5.75713739999492 6.05563600144317
END
set xlabel 'member tokens'
set ylabel 'held-out bits per byte'
set rmargin 17
set logscale x
set xrange [376908.8616959489:28488102.380203094]
set yrange [4.4677807736780695:8.007154753096124]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 4.388144859141163 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.653597907597518 left tc rgb '#555555'
set label 3 'unigram 4.829' at graph 1.015, first 4.919050956053872 left tc rgb '#555555'
set xtics ('500 k' 500000, '1 M' 1000000, '2 M' 2000000, '5 M' 5000000, '10 M' 10000000, '20 M' 20000000)
set mxtics 1
plot 4.829140610294643 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band2 using 1:3:4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.15 noborder notitle, $band3 using 1:3:4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.15 noborder notitle, $band4 using 1:3:4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. population 4,096', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. population 2,048', $band2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 pi 1 title '3. population 1,024', $band3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 pi 1 title '4. population 512', $band4 using 1:2 with linespoints lc rgb '#6a51a3' lw 2 dt solid pt 6 ps 0.7 pi 1 title '5. population 256'
