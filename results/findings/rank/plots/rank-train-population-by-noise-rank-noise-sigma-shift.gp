# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,480 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.333in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,960 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'rank: held-out bits by population and rank, sigma shift'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
123.23600418905441 4.902690412777219 4.850949415562527 4.954431409991912
492.94401675621765 4.463729114460991 4.426783779028018 4.500674449893964
1971.7760670248706 4.088795332811244 4.057985088556137 4.11960557706635
END
$line1 << END
128 4.887828262418844 4.8573146008905255 4.918341923947162
512 4.457085372492369 4.419212049513155 4.494958695471582
2048 4.079886446260954 4.031159495527136 4.128613396994771
END
$line2 << END
132.9481599781957 4.869693640025744 4.817263728875508 4.92212355117598
531.7926399127828 4.430145385940005 4.403298371097221 4.456992400782789
2127.170559651131 4.070230126318932 4.036364599437339 4.104095653200525
END
set xtics ('128' 128, '512' 512, '2,048' 2048)
set mxtics 1
set xlabel 'population (members)'
set ylabel 'held-out bits per byte'
set logscale x
set xrange [105.41965021024936:2486.671123241056]
set yrange [3.9942286189485454:4.991362286570503]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'rank of the perturbation, sigma shift: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line2 using 1:2:3:4 with yerrorbars lc rgb '#3f7d2c' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'rank 1, sigma shift 4', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'rank 4, sigma shift 5', $line2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 title 'rank 16, sigma shift 6'
