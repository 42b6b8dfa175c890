# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 720,290 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 6.500in,2.618in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 1440,580 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'draws: where the time goes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 15.6
set rmargin 4
set ytics ('draws one' 0, 'draws four' 1, 'draws sixteen' 2, 'draws sixty_four' 3, 'draws complete' 4)
set yrange [4.6:-0.6]
set grid noytics
$bars << END
0 11.446578095177639 40.10548657209191 100
1 12.565599073219442 40.2206987201888 100
2 11.234659695447903 40.35781991510403 100
3 9.511760057569374 36.856062621297966 100
4 12.406046069234321 37.94361879584779 100
END
set xlabel 'share of the wall time (%)'
set xrange [0:100]
set style fill solid 1 noborder
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $bars using (0):1:(0):2:($1-0.35):($1+0.35) with boxxyerror fc rgb '#0b4f8a' title 'forward passes', $bars using (0):1:2:3:($1-0.35):($1+0.35) with boxxyerror fc rgb '#d6761b' title 'rest of the steps: votes, rule, files', $bars using (0):1:3:4:($1-0.35):($1+0.35) with boxxyerror fc rgb '#b9c0c7' title 'outside the steps: evaluation, checkpoints, monitor, start'
