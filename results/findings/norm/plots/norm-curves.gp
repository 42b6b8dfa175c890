# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'norm: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
1.6384 5.003429341942702 4.889629085802369 5.117229598083036
3.2768 4.6439998317384035 4.57572221803731 4.712277445439497
4.9152 4.488152775159232 4.4128328061482565 4.563472744170208
6.5536 4.374292180972347 4.312210283939496 4.436374078005198
8.192 4.291453615065719 4.2358895574101485 4.3470176727212895
9.8304 4.235650170207747 4.1893405223992985 4.281959818016196
END
$band1 << END
1.6384 5.639912896478355 nan nan
3.2768 5.197474187178692 5.144009552820131 5.250938821537253
4.9152 4.998647633554094 4.964210194327147 5.033085072781041
6.5536 4.882524184000177 4.821045961357487 4.944002406642867
8.192 4.811235711883574 4.750874064187932 4.871597359579217
9.8304 4.739349145156135 4.686806640418684 4.791891649893586
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [1.47456:9.99424]
set yrange [4.146876590433781:5.293402753502771]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 4.121079751764729 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.207069213994903 left tc rgb '#555555'
set label 3 'unigram 4.829' at graph 1.015, first 4.829140610294642 left tc rgb '#555555'
plot 4.829140610294642 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. norm l1', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. norm max'
