# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.153in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,920 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'models-alike: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
26.2144 2.7856106758961716 2.7717581489994765 2.7994632027928668
52.4288 2.617653021360006 2.6014787891466953 2.6338272535733167
78.6432 2.5417812619250184 2.5301191931551887 2.553443330694848
104.8576 2.4949087282355937 2.485049279218798 2.5047681772523895
131.072 2.4614777936640593 2.453686273796504 2.4692693135316146
END
$band1 << END
26.2144 2.7969620018739976 2.783943448199165 2.80998055554883
52.4288 2.623897849847324 2.615374187871722 2.632421511822926
78.6432 2.5477511957391927 2.5384423235475184 2.557060067930867
104.8576 2.4985796864695535 2.4881938496853286 2.5089655232537784
131.072 2.4646963722731234 2.457844176027391 2.471548568518856
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [24.117248:133.169152]
set yrange [2.4138246687187186:2.825217320426911]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ Kneser-Ney of 7 bytes 1.716' at graph 1.015, first 2.404568334055284 left tc rgb '#555555'
set label 2 'xz 2.429' at graph 1.015, first 2.4354227829333985 left tc rgb '#555555'
set label 3 '▲ gzip 2.998' at graph 1.015, first 2.8005337613244197 left tc rgb '#555555'
set label 4 '▲ bigram 3.633' at graph 1.015, first 2.831388210202534 left tc rgb '#555555'
set label 5 '▲ unigram 4.527' at graph 1.015, first 2.8622426590806485 left tc rgb '#555555'
plot 2.4290614335967997 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. model gru_tables', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. model int8nativeformer'
