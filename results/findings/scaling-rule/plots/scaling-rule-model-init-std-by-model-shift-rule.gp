# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'scaling-rule: held-out bits by init std and shift rule'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
3.9435091770040285 4.111092199972539 4.076853750692181 4.145330649252897
15.774036708016114 4.253651866677882 4.199511420759385 4.307792312596379
31.548073416032228 4.78320610947785 4.713012291380552 4.853399927575148
END
$line1 << END
4.057300054809446 4.5471556432742775 4.505462261398794 4.588849025149761
16.229200219237786 4.523984854124171 4.515386330408876 4.532583377839466
32.45840043847557 4.6141932076205165 4.583541601178682 4.644844814062351
END
set xtics ('4' 4, '16' 16, '32' 32)
set mxtics 1
set xlabel 'standard deviation of the initial weights'
set ylabel 'held-out bits per byte'
set logscale x
set xrange [3.458148925231461:37.014021884969196]
set yrange [4.045791903616863:4.884461774650466]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'shift rule: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'inverse_sqrt', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'inverse'
