# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,440 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.972in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,880 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'attention_gpu: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
3.508368 3.2391913096924956 nan nan
7.016736 3.132467321296394 3.069415863128118 3.1616474402385344
10.525104 3.091547445077462 3.009157786411865 3.1616474402385344
14.033472 3.0593340841673964 3.009157786411865 3.137503783584572
17.54184 3.052522829952425 3.009157786411865 3.1174812154119915
21.050208 3.0383379053540054 3.009157786411865 3.081783252269654
24.558576 3.03938391730084 3.021577603773688 3.057190230827992
28.066944 3.04490666526209 3.0314366094784435 3.0583767210457364
31.575312 3.0386156381019975 3.009157786411865 3.068981915183437
END
set xlabel 'member tokens (billions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [6.52556448:32.06648352]
set yrange [3.009157786411865:3.1616474402385344]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ Kneser-Ney of 7 bytes 1.716' at graph 1.015, first 3.005726769200765 left tc rgb '#555555'
set label 2 '▼ xz 2.429' at graph 1.015, first 3.0171634932377653 left tc rgb '#555555'
set label 3 '▼ gzip 2.998' at graph 1.015, first 3.0286002172747657 left tc rgb '#555555'
set label 4 '▲ bigram 3.633' at graph 1.015, first 3.1639347850459343 left tc rgb '#555555'
set label 5 '▲ unigram 4.527' at graph 1.015, first 3.1753715090829346 left tc rgb '#555555'
plot $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. the only configuration'
