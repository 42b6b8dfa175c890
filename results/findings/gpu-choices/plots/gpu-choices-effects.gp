# Draw again with: gnuplot THIS.gp > THIS.svg
set terminal svg size 1268,282 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set lmargin 90
set ytics ('instead+fitness+noise+optimizer: instead=rank_4 fitness=zscore noise=counter optimizer=...' 0, 'instead+fitness+noise+optimizer: instead=rounding_down fitness=zscore noise=counter opt...' 1, 'instead+fitness+noise+optimizer: instead=small_noise fitness=zscore noise=counter optim...' 2, 'instead+fitness+noise+optimizer: instead=large_noise fitness=zscore noise=counter optim...' 3, 'instead+fitness+noise+optimizer: instead=nothing fitness=sign noise=counter optimizer=s...' 4, 'instead+fitness+noise+optimizer: instead=nothing fitness=centered_rank noise=counter op...' 5, 'instead+fitness+noise+optimizer: instead=nothing fitness=zscore noise=table optimizer=s...' 6, 'instead+fitness+noise+optimizer: instead=nothing fitness=zscore noise=counter optimizer...' 7)
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
set xlabel 'difference in held-out bits per unit'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#777777' dt 2
set xrange [-0.140125433612504:2.6325513980045123]
plot $rows using 1:2:3:4 with xerrorbars lc rgb '#0b4f8a' lw 2 pt 7 ps 0.7 notitle
