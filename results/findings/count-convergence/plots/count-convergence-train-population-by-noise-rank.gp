# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'count-convergence: held-out bits by population and rank'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
125.37344 0.008561906032264232 0.0075635319962469565 0.009560280068281508
509.37344 0.000410434789955616 0.00039993479441579385 0.00042093478549543815
END
$line1 << END
130.62656 0.009892451204359531 0.008831205224037242 0.01095369718468182
514.62656 0.000402829609811306 0.0003883998153384826 0.0004172594042841294
END
set xtics ('128' 128, '512' 512)
set mxtics 1
set xlabel 'population (members)'
set ylabel 'held-out bits per token'
set xrange [101.12:538.88]
set yrange [-3.4212079435250956e-05:0.011376309079455554]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'rank of the perturbation: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title '1', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title '4'
