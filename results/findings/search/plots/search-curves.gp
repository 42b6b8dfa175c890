# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,580 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,5.236in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1160 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'search: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
26.2144 2.4648949556778255 2.4648949556778255 2.4648949556778255
52.4288 2.4069547956760458 2.4069547956760458 2.4069547956760458
78.6432 2.4259485727947516 2.4259485727947516 2.4259485727947516
104.8576 2.4204681747603702 2.4204681747603702 2.4204681747603702
END
$band1 << END
26.2144 2.4674597892187284 2.4674597892187284 2.4674597892187284
52.4288 2.427675630967203 2.427675630967203 2.427675630967203
78.6432 2.425732681442523 2.425732681442523 2.425732681442523
104.8576 2.438959054006526 2.438959054006526 2.438959054006526
END
$band2 << END
26.2144 2.480100586019459 2.480100586019459 2.480100586019459
37.748736 2.4555531349639654 2.4555531349639654 2.4555531349639654
END
$band3 << END
26.2144 2.492022132576667 2.492022132576667 2.492022132576667
37.748736 2.455605916953354 2.455605916953354 2.455605916953354
END
$band4 << END
26.2144 2.502945542819376 2.502945542819376 2.502945542819376
37.748736 2.4622494415284133 2.4622494415284133 2.4622494415284133
END
$band5 << END
26.2144 2.4774621957738243 2.4774621957738243 2.4774621957738243
52.4288 2.457777474962454 2.457777474962454 2.457777474962454
78.6432 2.4623440970586357 2.4623440970586357 2.4623440970586357
104.8576 2.477071589028304 2.477071589028304 2.477071589028304
END
$band6 << END
26.2144 2.503304533923946 2.503304533923946 2.503304533923946
37.748736 2.479549531712248 2.479549531712248 2.479549531712248
END
$band7 << END
26.2144 2.5074141607128255 2.5074141607128255 2.5074141607128255
37.748736 2.4922418271006928 2.4922418271006928 2.4922418271006928
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [24.641536000000002:106.430464]
set yrange [2.4029364210745747:2.5114325353142966]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'one seed each'
set label 1 '▲ gzip 3.189' at graph 1.015, first 2.5049227684599136 left tc rgb '#555555'
set label 2 '▲ bigram 3.589' at graph 1.015, first 2.5130599770278925 left tc rgb '#555555'
set label 3 '▲ unigram 4.829' at graph 1.015, first 2.5211971855958715 left tc rgb '#555555'
plot $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. trial 8', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. trial 12', $band2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 pi 1 title '3. trial 16', $band3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 pi 1 title '4. trial 22', $band4 using 1:2 with linespoints lc rgb '#6a51a3' lw 2 dt solid pt 6 ps 0.7 pi 1 title '5. trial 24', $band5 using 1:2 with linespoints lc rgb '#17858f' lw 2 dt (14,3,3,3) pt 13 ps 0.7 pi 1 title '6. trial 14', $band6 using 1:2 with linespoints lc rgb '#8c5a2b' lw 2 dt (6,6) pt 4 ps 0.7 pi 1 title '7. trial 4', $band7 using 1:2 with linespoints lc rgb '#6b6b6b' lw 2 dt (2,5) pt 8 ps 0.7 pi 1 title '8. trial 26'
