# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,440 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.972in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,880 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'tables_gpu: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
6.83565792 1.9030506107916567 nan nan
13.67131584 1.831223409649625 1.8129752728192619 1.849471546479988
20.50697376 1.8026656201857847 1.7926851110360256 1.8126461293355438
27.34263168 1.7824171398873503 1.7730066742390589 1.7918276055356417
34.1782896 1.7652328400714665 1.7575933686110776 1.7728723115318554
41.01394752 1.75147690583199 1.7429792645943751 1.7599745470696047
47.84960544 1.739305913674502 1.733271916754668 1.745339910594336
END
set xlabel 'member tokens (billions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [12.987750048:48.533171232]
set yrange [1.7111669226609856:1.8547909550884112]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 'Kneser-Ney of 7 bytes 1.716' at graph 1.015, first 1.7164863312694087 left tc rgb '#555555'
set label 2 '▲ xz 2.429' at graph 1.015, first 1.8354017107107088 left tc rgb '#555555'
set label 3 '▲ gzip 2.998' at graph 1.015, first 1.8461735131427657 left tc rgb '#555555'
set label 4 '▲ bigram 3.633' at graph 1.015, first 1.8569453155748226 left tc rgb '#555555'
set label 5 '▲ unigram 4.527' at graph 1.015, first 1.8677171180068795 left tc rgb '#555555'
plot 1.7164863312694087 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. the only configuration'
