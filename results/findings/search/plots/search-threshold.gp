# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,430 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.882in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,860 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'search: threshold and update rate'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.551805646739503 0.7413417396120489
1.314546651233506 1.4650420734353349
1.3130709796879987 1.4594308431863567
1.3140182122796031 1.4796785935025891
1.577391468038043 0.688655160834947
1.7227061675810182 0.5555399412429428
1.1168664086649955 0.9893109389457626
1.2260120980638582 1.4613071178994412
1.066722780230229 2.037338428637891
1.1865511391313022 1.5468970472598613
1.1756171748801265 1.4169238563025508
1.18905485297086 1.4798985794422614
1.0009754362416396 1.4316372084961426
1.4087413546148642 0.8243414618235814
0.9830360488789254 1.5039563640192015
1.143258879864617 1.4241764260903036
1.028534866953154 1.747675486792709
0.99872878440265 2.2546466505664333
0.8562582927017603 1.82029883398457
0.8477611550733264 1.8211209703268882
0.8362140633622054 1.8498002928531048
0.8170799758703254 1.8965823805693405
0.6681389260062789 0.9142429760211094
0.9045598159624553 2.8108047937674905
0.7214867123061743 4.090507045494578
0.5396133798979968 6.2476712439136195
0.3673163180149355 3.0528717113657806
END
set xlabel 'threshold (standard deviations of votes by chance)'
set ylabel 'weights that a step changes'
set samples 400
set xrange [0.2859929270409705:1.8040295585549833]
set logscale y
set yrange [0.41514406876132653:95.4639187025304]
set ytics ('0.5 %%' 0.5, '1 %%' 1, '2 %%' 2, '5 %%' 5, '10 %%' 10, '20 %%' 20, '50 %%' 50)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes by chance', $runs with points lc rgb '#0b4f8a' pt 6 ps 0.8 title 'a run: mean over the last quarter of its steps'
