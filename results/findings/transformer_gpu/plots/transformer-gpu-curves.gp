# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,440 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.972in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,880 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'transformer_gpu: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
6.99584928 1.8823426979955855 nan nan
13.99169856 1.8195760529812153 1.8172228110239017 1.8219292949385288
20.98754784 1.7924077702852121 1.7915564474992436 1.7932590930711807
27.98339712 1.7742793132406998 1.7731442111452866 1.7754144153361129
34.9792464 1.7575864716682927 1.7557931311499246 1.7593798121866608
41.97509568 1.7464624027845896 1.7438995924468081 1.7490252131223711
48.97094496 1.7338223195539484 1.7330410473426907 1.734603591765206
END
set xlabel 'member tokens (billions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [13.292113632:49.670529888]
set yrange [1.7122686127226439:1.8261470134852937]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 'Kneser-Ney of 7 bytes 1.716' at graph 1.015, first 1.7164863312694087 left tc rgb '#555555'
set label 2 '▲ xz 2.429' at graph 1.015, first 1.8107734293823363 left tc rgb '#555555'
set label 3 '▲ gzip 2.998' at graph 1.015, first 1.819314309439535 left tc rgb '#555555'
set label 4 '▲ bigram 3.633' at graph 1.015, first 1.8278551894967336 left tc rgb '#555555'
set label 5 '▲ unigram 4.527' at graph 1.015, first 1.8363960695539323 left tc rgb '#555555'
plot 1.7164863312694087 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. the only configuration'
