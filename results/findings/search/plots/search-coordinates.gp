# Draw again with: gnuplot THIS.gp > THIS.svg
# or with: gnuplot -e "format = 'pdf'" THIS.gp > THIS.pdf (or png)
if (!exists('format')) format = 'svg'
if (format eq 'svg') set terminal svg size 1100,400 noenhanced font 'DejaVu Sans,13' background '#ffffff'
if (format eq 'pdf') set terminal pdfcairo size 9.931in,3.611in noenhanced font 'DejaVu Sans,8.45' fontscale 0.75 linewidth 1.2 pointscale 0.7 background '#ffffff'
if (format eq 'png') set terminal pngcairo size 2200,800 noenhanced font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 background '#ffffff'
set encoding utf8
set title 'Settings of the trials'
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1
set label '0.2015' at 0,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '0.9015' at 0,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 0,0 to 0,1 nohead lc rgb '#777777' lw 1.2
set label '0.501' at 1,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '0.9389' at 1,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 1,0 to 1,1 nohead lc rgb '#777777' lw 1.2
set label '1.007' at 2,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '7.831' at 2,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 2,0 to 2,1 nohead lc rgb '#777777' lw 1.2
set label '2' at 3,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '3' at 3,0.3333 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '4' at 3,0.6667 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '5' at 3,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 3,0 to 3,1 nohead lc rgb '#777777' lw 1.2
set label '1' at 4,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '2' at 4,0.5000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '3' at 4,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 4,0 to 4,1 nohead lc rgb '#777777' lw 1.2
set label '1.002' at 5,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '3.994' at 5,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 5,0 to 5,1 nohead lc rgb '#777777' lw 1.2
set label '4' at 6,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '8' at 6,0.5000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '16' at 6,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 6,0 to 6,1 nohead lc rgb '#777777' lw 1.2
set label '16' at 7,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '32' at 7,0.5000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '64' at 7,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 7,0 to 7,1 nohead lc rgb '#777777' lw 1.2
set label '2' at 8,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '4' at 8,0.5000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '8' at 8,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 8,0 to 8,1 nohead lc rgb '#777777' lw 1.2
set label '27' at 9,0.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set label '1' at 9,1.0000 offset 0.6,0 left front tc rgb '#333333' font ',10'
set arrow from 9,0 to 9,1 nohead lc rgb '#777777' lw 1.2
unset border
unset ytics
set grid noxtics noytics
set xtics ('alpha' 0, 'residual' 1, 'anneal' 2, 'sigma shift' 3, 'sigma joint shift' 4, 'clip' 5, 'logit steps per bit' 6, 'width' 7, 'members per stream' 8, 'place' 9) scale 0 rotate by -20
set xrange [-0.1:9.1]
set yrange [-0.04:1.04]
set rmargin 8
$group0 << END
0 0.3841
1 0.2215
2 0.1464
3 1.0000
4 0.5000
5 0.5010
6 0.0000
7 1.0000
8 1.0000
9 0.6538

0 0.1766
1 0.1359
2 0.0523
3 1.0000
4 1.0000
5 0.9726
6 0.0000
7 1.0000
8 0.5000
9 0.6154

0 0.2327
1 0.2501
2 0.0725
3 1.0000
4 0.5000
5 0.9863
6 0.0000
7 1.0000
8 1.0000
9 0.5769

0 0.3940
1 0.2505
2 0.1227
3 1.0000
4 0.5000
5 0.4853
6 0.0000
7 1.0000
8 1.0000
9 0.5385

0 0.0096
1 0.1089
2 0.0000
3 0.6667
4 1.0000
5 0.7436
6 0.0000
7 1.0000
8 0.5000
9 0.5000

0 0.3896
1 0.2448
2 0.1395
3 1.0000
4 0.5000
5 0.4977
6 0.0000
7 1.0000
8 1.0000
9 0.4615

0 0.0107
1 0.0818
2 0.0089
3 0.6667
4 1.0000
5 0.7436
6 0.0000
7 1.0000
8 0.5000
9 0.4231

0 0.4191
1 0.2555
2 0.1395
3 1.0000
4 0.5000
5 0.5130
6 0.0000
7 1.0000
8 1.0000
9 0.3846

0 0.2431
1 0.2117
2 0.0601
3 1.0000
4 0.5000
5 0.8837
6 0.0000
7 1.0000
8 1.0000
9 0.3462

0 0.0096
1 0.1044
2 0.0042
3 0.6667
4 1.0000
5 0.7283
6 0.0000
7 1.0000
8 0.5000
9 0.3077

0 0.0000
1 0.4405
2 0.8348
3 0.6667
4 0.5000
5 0.6126
6 0.0000
7 1.0000
8 0.5000
9 0.2692

0 1.0000
1 0.8602
2 0.2393
3 0.6667
4 0.0000
5 0.2286
6 0.5000
7 0.0000
8 1.0000
9 0.2308

0 0.8571
1 0.7203
2 0.3803
3 1.0000
4 0.0000
5 0.0000
6 0.5000
7 0.5000
8 0.0000
9 0.1923

0 0.3571
1 0.3706
2 0.4689
3 0.0000
4 0.0000
5 0.2797
6 0.5000
7 1.0000
8 0.5000
9 0.1538

0 0.6429
1 0.6504
2 1.0000
3 0.3333
4 0.0000
5 0.0996
6 0.5000
7 0.5000
8 0.0000
9 0.1154

0 0.1429
1 0.5805
2 0.0604
3 0.3333
4 0.5000
5 0.4619
6 0.5000
7 0.5000
8 1.0000
9 0.0769

0 0.7143
1 0.0210
2 0.5725
3 1.0000
4 1.0000
5 0.0635
6 1.0000
7 1.0000
8 0.5000
9 0.0385

0 0.5714
1 1.0000
2 0.1360
3 0.0000
4 1.0000
5 0.1390
6 1.0000
7 0.0000
8 1.0000
9 0.0000

END
$group1 << END
0 0.2447
1 0.2368
2 0.0768
3 1.0000
4 0.5000
5 0.9796
6 0.0000
7 1.0000
8 0.5000
9 0.8846

0 0.1914
1 0.1439
2 0.0415
3 1.0000
4 1.0000
5 0.9806
6 0.0000
7 1.0000
8 0.5000
9 0.8462

0 0.2001
1 0.0000
2 0.0689
3 1.0000
4 1.0000
5 0.9311
6 0.0000
7 1.0000
8 0.5000
9 0.8077

0 0.2857
1 0.1608
2 0.0048
3 0.3333
4 0.5000
5 0.3352
6 0.0000
7 1.0000
8 0.5000
9 0.7692

0 0.1543
1 0.0128
2 0.0444
3 1.0000
4 1.0000
5 0.8827
6 0.0000
7 0.0000
8 0.5000
9 0.7308

0 0.1886
1 0.0119
2 0.0497
3 1.0000
4 1.0000
5 0.9910
6 0.0000
7 0.0000
8 0.5000
9 0.6923

END
$group2 << END
0 0.0714
1 0.0909
2 0.1836
3 1.0000
4 1.0000
5 0.5341
6 0.0000
7 0.0000
8 0.5000
9 1.0000

0 0.0199
1 0.0824
2 0.0006
3 0.6667
4 0.5000
5 0.7273
6 0.0000
7 1.0000
8 0.5000
9 0.9615

0 0.2426
1 0.2030
2 0.0781
3 1.0000
4 0.5000
5 1.0000
6 0.0000
7 1.0000
8 0.5000
9 0.9231

END
set key bottom outside center vertical maxcols 1 reverse Left samplen 4 width -2 title ' '
plot $group0 using 1:2 with lines lc rgb '#b9c0c7' lw 1.2 title 'ended after 12 steps', $group1 using 1:2 with lines lc rgb '#0b4f8a' lw 1.2 title 'ended after 36 steps', $group2 using 1:2 with lines lc rgb '#d6761b' lw 2.5 title 'ended after 100 steps'
