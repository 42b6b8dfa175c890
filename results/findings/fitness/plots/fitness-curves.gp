# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,500 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,4.514in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,1000 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'fitness: learning curves'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$band0 << END
1.6384 4.952959274751614 nan nan
3.2768 4.611180672625341 4.576974160658181 4.645387184592502
4.9152 4.460588062554256 4.424324066897336 4.496852058211177
6.5536 4.358597527699347 4.321738754650961 4.395456300747733
8.192 4.287582377949135 4.251574066849579 4.32359068904869
9.8304 4.228910506506895 4.192959958110538 4.264861054903252
END
$band1 << END
1.6384 4.986863652987575 nan nan
3.2768 4.629684482003661 4.59787101786063 4.661497946146692
4.9152 4.469842652142072 4.436170493068008 4.503514811216135
6.5536 4.356382437180451 4.32663356764925 4.386131306711652
8.192 4.2856941651798826 4.255374812873569 4.316013517486196
9.8304 4.235583060221482 4.206556032963131 4.264610087479833
END
$band2 << END
1.6384 4.984063499088156 nan nan
3.2768 4.6381398502892015 4.607988731132078 4.668290969446325
4.9152 4.479656877831158 4.444745419507109 4.514568336155207
6.5536 4.373898896266736 4.344396336365995 4.403401456167477
8.192 4.296352260206698 4.26961390731989 4.323090613093505
9.8304 4.239071199609962 4.212437103627034 4.265705295592891
END
$band3 << END
1.6384 5.159041189506368 nan nan
3.2768 4.7490527044134385 4.713002529772625 4.785102879054252
4.9152 4.590994607015776 4.562163154779303 4.619826059252248
6.5536 4.486011856595536 4.458469443621429 4.513554269569643
8.192 4.405066359708528 4.380651141972719 4.429481577444336
9.8304 4.353842748859147 4.325458288459734 4.382227209258561
END
set xlabel 'member tokens (millions)'
set ylabel 'held-out bits per byte'
set rmargin 17
set xrange [3.145728:9.961471999999999]
set yrange [4.167512732023173:4.854587836382008]
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '."\n".'mean over the seeds; band: its 95 % interval'
set label 1 '▼ gzip 3.189' at graph 1.015, first 4.152053542175099 left tc rgb '#555555'
set label 2 '▼ bigram 3.589' at graph 1.015, first 4.203584175002011 left tc rgb '#555555'
set label 3 'unigram 4.829' at graph 1.015, first 4.829140610294643 left tc rgb '#555555'
plot 4.829140610294643 with lines lc rgb '#777777' lw 1.2 dt 2 notitle, $band0 using 1:3:4 with filledcurves fc rgb '#0b4f8a' fs transparent solid 0.15 noborder notitle, $band1 using 1:3:4 with filledcurves fc rgb '#d6761b' fs transparent solid 0.15 noborder notitle, $band2 using 1:3:4 with filledcurves fc rgb '#3f7d2c' fs transparent solid 0.15 noborder notitle, $band3 using 1:3:4 with filledcurves fc rgb '#b2182b' fs transparent solid 0.15 noborder notitle, $band0 using 1:2 with linespoints lc rgb '#0b4f8a' lw 2 dt solid pt 7 ps 0.7 pi 1 title '1. fitness difference', $band1 using 1:2 with linespoints lc rgb '#d6761b' lw 2 dt (9,4) pt 5 ps 0.7 pi 1 title '2. fitness centered_rank', $band2 using 1:2 with linespoints lc rgb '#3f7d2c' lw 2 dt (3,3) pt 9 ps 0.7 pi 1 title '3. fitness zscore', $band3 using 1:2 with linespoints lc rgb '#b2182b' lw 2 dt (9,3,2,3) pt 11 ps 0.7 pi 1 title '4. fitness sign'
