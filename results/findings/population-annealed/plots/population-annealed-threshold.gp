# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,430 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,3.882in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,860 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'population-annealed on a withdrawn text: threshold and update rate'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
$runs << END
1.8050763719807437 0.06977151315959211
1.8050763719807437 0.06987704359965939
1.8050763719807437 0.06958882814269295
1.4723458094902269 0.3481953936410831
1.4723458094902269 0.3481019929307148
1.4723458094902269 0.3474366494855706
1.08659409375751 1.08975085220658
1.08659409375751 1.0889756626277576
1.08659409375751 1.0909030073129549
1.0844501450526005 1.712417067788347
1.0844501450526005 1.7103171531264598
1.0844501450526005 1.7110116423009
2.0875156615214014 0.12942935355169952
2.0875156615214014 0.1299993657423466
2.0875156615214014 0.12998854842431753
1.4723458094902269 0.8977112257154571
1.4723458094902269 0.8985379106907894
1.4723458094902269 0.8967956013335894
1.08659409375751 2.5804666477168623
1.08659409375751 2.5777948636585504
1.08659409375751 2.5853740250542407
1.0844501450526005 3.707696643836377
1.0844501450526005 3.7038831472993525
1.0844501450526005 3.7122226864063537
END
set xlabel 'threshold (standard deviations of votes by chance)'
set ylabel 'weights that a step changes'
set samples 400
set xrange [1.0242662140644725:2.1476995925095297]
set logscale y
set yrange [0.04857733900306002:39.848198571309936]
set ytics ('0.1 %%' 0.1, '1 %%' 1, '10 %%' 10)
set mytics 1
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot 100 * erfc(x / sqrt(2)) with lines lc rgb '#777777' lw 1.5 dt 2 title 'votes by chance', $runs with points lc rgb '#0b4f8a' pt 6 ps 0.8 title 'a run: mean over the last quarter of its steps'
