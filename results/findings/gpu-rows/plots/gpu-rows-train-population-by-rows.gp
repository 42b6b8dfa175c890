# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,500 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.514in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1000 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-rows: held-out bits by population and rows'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
495292.0710446347 2.246027456407489 2.240692720548725 2.251362192266253
7924673.136714155 2.0638351250530764 2.0610298341078472 2.0666404159983056
END
$line1 << END
514438.8241966715 2.1908286869884237 2.189123941147618 2.1925334328292294
8231021.187146744 2.003340725598603 2.002564270984218 2.004117180212988
END
$line2 << END
534325.7429554216 2.1693227386228613 2.165235682892629 2.1734097943530934
8549211.887286745 1.9758701917651624 1.9742552311694161 1.9774851523609087
END
$line3 << END
554981.4402727004 2.1652946122963956 2.1603995535703566 2.1701896710224347
8879703.044363206 1.9656475807210534 1.9630841888486836 1.9682109725934231
END
set xtics ('524,288' 524288, '8,388,608' 8388608)
set mxtics 1
set xlabel 'population (members)'
set ylabel 'held-out bits per byte'
set logscale x
set xrange [431798.8872611814:10185404.920795366]
set yrange [1.9515530687119809:2.262893312402956]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'rows: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line2 using 1:2:3:4 with yerrorbars lc rgb '#3f7d2c' lw 1.2 pt -1 notitle, $line3 using 1:2:3:4 with yerrorbars lc rgb '#b2182b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'bits_14', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'bits_16', $line2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 title 'bits_18', $line3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 title 'bits_20'
