# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'optimizer: held-out bits by optimizer and model'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
-0.012 4.251275256193853 4.23231576502922 4.2702347473584865
0.988 4.227628824868697 4.206083276710584 4.24917437302681
END
$line1 << END
0.012 4.421364834685874 4.394692672466977 4.44803699690477
1.012 4.415202068187107 4.380090876476795 4.4503132598974195
END
set xtics ('sign_es' 0, 'es_adamw' 1)
set xlabel 'optimizer'
set ylabel 'held-out bits per byte'
set xrange [-0.5:1.5]
set yrange [4.196314077383111:4.460082459224893]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'model: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'gru', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'int8nativeformer'
