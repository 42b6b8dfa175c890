# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'orthogonal: held-out bits by draws and orthogonal'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
0.9627812827269876 1.979197446542681 1.965850956466365 1.9925439366189968
3.8511251309079504 1.8950221140330246 1.8889993111139125 1.9010449169521366
15.404500523631802 1.84067989392677 1.8365971097779847 1.844762678075555
61.618002094527206 1.8138478959699065 1.8100794875014126 1.8176163044384004
246.47200837810882 1.8072031928679004 1.8049472806138718 1.809459105121929
END
$line1 << END
1.0386574998296538 1.9796582082616707 1.9664209171614024 1.992895499361939
4.154629999318615 1.900913256898052 1.8899697339221637 1.9118567798739403
16.61851999727446 1.854920930909883 1.848619798105819 1.8612220637139472
66.47407998909785 1.8310777500907636 1.8267899866187494 1.8353655135627778
265.8963199563914 1.8180584607957186 1.8160300074003628 1.8200869141910745
END
set xtics ('1' 1, '4' 4, '16' 16, '64' 64, '256' 256)
set mxtics 1
set xlabel 'draws'
set ylabel 'held-out bits per byte'
set logscale x
set xrange [0.678302163723836:377.4129196265219]
set yrange [1.797429351863949:2.0004134281118615]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'orthogonal: mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title 'true', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title 'false'
