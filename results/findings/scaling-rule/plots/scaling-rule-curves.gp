# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,540 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.875in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1080 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'scaling-rule: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
1.6384 4.689383753320973 4.611656559492743 4.767110947149203
3.2768 4.419177329635934 4.374926265228717 4.463428394043151
4.9152 4.300497118932748 4.2770329550709745 4.323961282794522
6.5536 4.208732434310398 4.1760137474602645 4.241451121160531
8.192 4.144428003967585 4.115085983536391 4.173770024398779
9.8304 4.0997354734055635 4.068589559901751 4.130881386909376
END
$band1 << END
1.6384 5.003429341942702 4.889629085802369 5.117229598083036
3.2768 4.6439998317384035 4.57572221803731 4.712277445439497
4.9152 4.488152775159232 4.4128328061482565 4.563472744170208
6.5536 4.374292180972347 4.312210283939496 4.436374078005198
8.192 4.291453615065719 4.2358895574101485 4.3470176727212895
9.8304 4.235650170207747 4.1893405223992985 4.281959818016196
END
$band2 << END
1.6384 6.158262136237397 nan nan
3.2768 5.193032178635177 5.154161214618447 5.231903142651908
4.9152 4.875185045193472 4.864154301030822 4.886215789356123
6.5536 4.69240927711799 4.6805700053534 4.704248548882581
8.192 4.577531514738384 4.57009767120024 4.584965358276528
9.8304 4.48990020868372 4.482922073699936 4.496878343667503
END
$band3 << END
1.6384 6.0467523678034425 nan nan
3.2768 5.214061082204377 5.181415012836281 5.246707151572473
4.9152 4.943467699782538 4.923837556455871 4.963097843109204
6.5536 4.764615737300813 4.741853802084583 4.787377672517044
8.192 4.624603421431886 4.581047846487213 4.66815899637656
9.8304 4.512463253267001 4.470597316970072 4.554329189563929
END
$band4 << END
1.6384 6.455560645750947 nan nan
3.2768 5.362548987758561 5.237897179478661 5.487200796038461
4.9152 4.98692449586641 4.912646161527662 5.061202830205159
6.5536 4.788940474019808 4.738024165567786 4.839856782471829
8.192 4.664931996624605 4.625807999478979 4.704055993770232
9.8304 4.5783954880790345 4.546776959401509 4.61001401675656
END
$band5 << END
1.6384 6.129697953297322 nan nan
3.2768 5.302103875055702 5.090995444125105 5.5132123059863
4.9152 5.0467144037015546 4.94545911810888 5.1479696892942295
6.5536 4.927908928803893 4.846746549950726 5.009071307657059
8.192 4.850117085442557 4.778533531767351 4.921700639117763
9.8304 4.78495916802624 4.720316243221033 4.8496020928314465
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [1.47456:9.99424]
set yrange [4.010804650058369:5.570997215829681]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 3.975700317328515 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.092714759761363 left tc rgb '#555555'
set label 3 'unigram 4.829' at graph 1.015, first 4.829140610294643 left tc rgb '#555555'
plot 4.829140610294643 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band2 using 1:3:4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.15 noborder notitle, $band3 using 1:3:4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.15 noborder notitle, $band4 using 1:3:4 with filledcurves fc rgb '#6a51a3' fs transparent solid 0.15 noborder notitle, $band5 using 1:3:4 with filledcurves fc rgb '#17858f' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. shift rule inverse_sqrt, init std 4', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. shift rule inverse_sqrt, init std 16', $band2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 pi 1 title '3. shift rule inverse, init std 16', $band3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 pi 1 title '4. shift rule inverse, init std 4', $band4 using 1:2 with linespoints lc rgb '#6a51a3' lw 2 dt solid pt 6 ps 0.7 pi 1 title '5. shift rule inverse, init std 32', $band5 using 1:2 with linespoints lc rgb '#17858f' lw 2 dt (14,3,3,3) pt 13 ps 0.7 pi 1 title '6. shift rule inverse_sqrt, init std 32'
