# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1124,312 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 10.147in,2.817in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2248,624 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'gpu-choices on a withdrawn text: effects of the axes'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 78.5
set rmargin 4
set ytics ('instead, fitness, noise, optimizer: instead rank_4, fitness zscore, noise counter, opti...' 0, 'instead, fitness, noise, optimizer: instead rounding_down, fitness zscore, noise counte...' 1, 'instead, fitness, noise, optimizer: instead small_noise, fitness zscore, noise counter,...' 2, 'instead, fitness, noise, optimizer: instead large_noise, fitness zscore, noise counter,...' 3, 'instead, fitness, noise, optimizer: instead nothing, fitness sign, noise counter, optim...' 4, 'instead, fitness, noise, optimizer: instead nothing, fitness centered_rank, noise count...' 5, 'instead, fitness, noise, optimizer: instead nothing, fitness zscore, noise table, optim...' 6, 'instead, fitness, noise, optimizer: instead nothing, fitness zscore, noise counter, opt...' 7)
set yrange [7.6:-0.6]
set grid noytics
$rows << END
0.006683549797103024 0 0.0010891120894278884 0.012277987504778159
-0.00029213617113832413 1 -0.004931241307496961 0.004346968965220313
0.005481953922279607 2 0.0018722533009370508 0.009091654543622164
0.010200124791937734 3 0.00592256398040751 0.014477685603467957
2.440308673212976 4 2.3740967134949402 2.5065206329310117
1.006688108370907 5 0.9819716013991822 1.0314046153426317
-0.0023873634194885676 6 -0.014094668539003255 0.00931994170002612
0.008526868950996155 7 0.005287531535393078 0.011766206366599231
END
set xrange [-0.140125433612504:2.6325513980045123]
set xtics 0.5
set xlabel 'difference in bits per byte (below 0: better)'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
