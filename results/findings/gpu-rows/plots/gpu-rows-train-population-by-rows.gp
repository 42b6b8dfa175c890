# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,500 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.514in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1000 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-rows on a withdrawn text: held-out bits by population and rows'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
495292.0710446347 2.4159263607565418 2.411665103656102 2.4201876178569814
7924673.136714155 2.1174179455021194 2.113743872153317 2.1210920188509217
END
$line1 << END
514438.8241966715 2.32953831975423 2.325391900226997 2.333684739281463
8231021.187146744 2.0184249653981126 2.018209629665722 2.018640301130503
END
$line2 << END
534325.7429554216 2.2948775930033682 2.2936063976596253 2.2961487883471112
8549211.887286745 1.9566259484079207 1.9540786905362055 1.9591732062796359
END
$line3 << END
554981.4402727004 2.2835901097793503 2.28026068506121 2.2869195344974904
8879703.044363206 1.9272333857719914 1.9266679961641027 1.9277987753798802
END
set xtics ('524,288' 524288, '8,388,608' 8388608)
set mxtics 1
set xlabel 'population (members)'
set ylabel 'held-out bits per byte'
set logscale x
set xrange [431798.8872611814:10185404.920795366]
set yrange [1.9069272112963875:2.439928402724697]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'rows: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line2 using 1:2:3:4 with yerrorbars lc rgb '#3f7d2c' lw 1.2 pt -1 notitle, $line3 using 1:2:3:4 with yerrorbars lc rgb '#b2182b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'bits_14', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'bits_16', $line2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 title 'bits_18', $line3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 title 'bits_20'
