# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'average on a withdrawn text: held-out bits by average and kind'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
0.497264 2.5065243533128267 2.5024756527542786 2.510573053871375
0.8972640000000001 2.5065243533128267 2.5024756527542786 2.510573053871375
END
$line1 << END
0.502736 2.790025712263788 2.779714649333186 2.8003367751943897
0.902736 2.790025712263788 2.779714649333186 2.8003367751943897
END
set xtics ('0.5' 0.5, '0.9' 0.9)
set mxtics 1
set xlabel 'average'
set ylabel 'held-out bits per byte'
set xrange [0.472:0.928]
set yrange [2.490561207856674:2.8122512200919942]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'kind: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'inverse_time', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'constant'
