# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,440 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.972in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,880 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'pieces_gpu: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
44.524380816 1.9651061192899248 1.8015338482548462 2.0381325499252623
89.048761632 1.8451114012679843 1.7584852981263916 1.931737504409577
133.573142448 1.7867613430274434 1.729828635599087 1.8436940504557997
178.097523264 1.7503213941691484 1.7084716968124716 1.7921710915258253
222.62190408 1.7258720890587427 1.6944665499091676 1.7572776282083178
END
set xlabel 'member tokens (billions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [40.96243035072:226.18385454528]
set yrange [1.6812486268316253:2.0381325499252623]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 'Kneser-Ney of 7 bytes 1.716' at graph 1.015, first 1.7164863312694087 left tc rgb '#555555'
set label 2 'bigram 1.978' at graph 1.015, first 1.9778285700838458 left tc rgb '#555555'
set label 3 '▲ xz 2.429' at graph 1.015, first 2.0167195145396444 left tc rgb '#555555'
set label 4 '▲ unigram 2.84' at graph 1.015, first 2.043485808771667 left tc rgb '#555555'
set label 5 '▲ gzip 2.998' at graph 1.015, first 2.0702521030036896 left tc rgb '#555555'
plot 1.7164863312694087 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, 1.9778285700838458 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. the only configuration'
