# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'search-confirmed: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
26.2144 2.4390806877016784 2.4318633021129092 2.4462980732904476
52.4288 2.3475648539188625 2.3400583930023244 2.3550713148354006
78.6432 2.332728133476784 2.326059663767614 2.3393966031859543
104.8576 2.3307896239817127 2.325202118055061 2.3363771299083647
END
$band1 << END
26.2144 2.4679476345964617 2.4638965598617895 2.471998709331134
52.4288 2.413331373727372 2.39469614951271 2.431966597942034
78.6432 2.4074384109506846 2.4024518407841633 2.412424981117206
104.8576 2.419358098810708 2.40646913058586 2.432247067035556
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [24.641536000000002:106.430464]
set yrange [2.3193302544040177:2.477870572982177]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▲ gzip 3.189' at graph 1.015, first 2.468358153867488 left tc rgb '#555555'
set label 2 '▲ bigram 3.589' at graph 1.015, first 2.4802486777608497 left tc rgb '#555555'
set label 3 '▲ unigram 4.829' at graph 1.015, first 2.4921392016542114 left tc rgb '#555555'
plot $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. settings own', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. settings found'
