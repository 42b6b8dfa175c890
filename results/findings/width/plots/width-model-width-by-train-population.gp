# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'width on a withdrawn text: held-out bits by width and population'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$line0 << END
15.774036708016114 2.8500117870641346 2.8421126833771564 2.857910890751113
31.548073416032228 2.8337125022817093 2.828528522652165 2.8388964819112537
63.096146832064456 2.867539062466275 2.824213863227499 2.910864261705051
126.19229366412891 2.849947737886369 2.8316790279029846 2.8682164478697536
END
$line1 << END
16.229200219237786 2.5145688156718595 2.5071254534621557 2.5220121778815634
32.45840043847557 2.5065243533128267 2.5024756527542786 2.510573053871375
64.91680087695114 2.523553866068437 2.5105991307193216 2.5365086014175526
129.8336017539023 2.508842400868005 2.4989346727140074 2.5187501290220027
END
set xtics ('16' 16, '32' 32, '64' 64, '128' 128)
set mxtics 1
set xlabel 'width of the model'
set ylabel 'held-out bits per byte'
set logscale x
set xrange [13.832595700925843:148.05608753987678]
set yrange [2.4824574891543656:2.927341445264693]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'population (members): mean over the seeds; bar: its 95 % interval'
plot $line0 using 1:2:3:4 with yerrorbars lc rgb '#0b4f8a' lw 1.2 pt -1 notitle, $line1 using 1:2:3:4 with yerrorbars lc rgb '#d6761b' lw 1.2 pt -1 notitle, $line0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 title '32,768', $line1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 title '131,072'
