# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'rounding: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
1.6384 4.976907012787643 nan nan
3.2768 4.636714052824382 4.6169896515481605 4.656438454100603
4.9152 4.47585014904944 4.4494389211583485 4.502261376940531
6.5536 4.368993863672258 4.346277431619878 4.3917102957246374
8.192 4.293635751731985 4.274607968340904 4.312663535123066
9.8304 4.233623836610975 4.216250234630024 4.250997438591925
END
$band1 << END
1.6384 5.0428124204688345 nan nan
3.2768 4.673824112150049 4.6472048502850365 4.7004433740150615
4.9152 4.513210182175584 4.485045849932325 4.541374514418843
6.5536 4.408167686815151 4.380156404376616 4.436178969253686
8.192 4.334018327617917 4.308969285568949 4.359067369666885
9.8304 4.273434652518506 4.249428526950808 4.297440778086203
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [3.145728:9.961471999999999]
set yrange [4.196882509054623:4.719811099590463]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 4.1851166157675666 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.224336260057755 left tc rgb '#555555'
set label 3 '▲ unigram 4.829' at graph 1.015, first 4.766874672738688 left tc rgb '#555555'
plot $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. rounding nearest', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. rounding floor'
