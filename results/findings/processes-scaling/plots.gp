# Draws plots/*.svg from the tables beside it; model.py runs it.
set terminal svg size 900,460 noenhanced font 'DejaVu Sans,13' background '#ffffff'
set encoding utf8
set datafile separator ','
set datafile missing NaN   # of rows that a line is not about
set border 3 lc rgb '#555555'
set tics nomirror out tc rgb '#333333'
set grid ytics xtics lc rgb '#e4e4e4' lt 1 lw 1

updates = 'rebuilt sharded rows votes'
colours = '#c0392b #2471a3 #8e44ad #1e8449'
array titles[4] = ['rebuilt on every process', 'sharded by tensor', 'sharded by rows', 'votes reduced']
colour(i) = word(colours, i)
of(scaling, members, i) = strcol(1) eq scaling && column(2) == members && strcol(3) eq word(updates, i) ? column(4) : NaN

set logscale x
set xrange [1:10000]
set yrange [0:105]
set format y '%g %%'
set xlabel 'GPUs'
set ylabel 'efficiency'
set key top right reverse Left samplen 2

set output 'plots/weak.svg'
set title 'a line: 32,768 members a GPU; dashes: 8,192; points: simulated, 32,768' tc rgb '#333333'
plot 50 with lines lc rgb '#999999' dt 3 notitle, \
  for [i=1:4] 'curves.csv' using (of('weak', 8192, i)):(100 * $5) with lines lw 2 dt 2 lc rgb colour(i) notitle, \
  for [i=1:4] '' using (of('weak', 32768, i)):(100 * $5) with lines lw 2 lc rgb colour(i) title titles[i], \
  for [i=1:4] 'simulation.csv' using (strcol(1) eq word(updates, i) ? $2 : NaN):(100 * $6 / $4) \
    with points pt 7 ps 0.6 lc rgb colour(i) notitle

set output 'plots/strong.svg'
set title 'a line: 2^25 members in all; dashes: 2^20' tc rgb '#333333'
plot 50 with lines lc rgb '#999999' dt 3 notitle, \
  for [i=1:4] 'curves.csv' using (of('strong', 2**20, i)):(100 * $5) with lines lw 2 dt 2 lc rgb colour(i) notitle, \
  for [i=1:4] '' using (of('strong', 2**25, i)):(100 * $5) with lines lw 2 lc rgb colour(i) title titles[i]

# The terms of a step, columns 6 to 12.
array terms[7] = ['forward', 'wait', 'gather', 'host', 'update', 'exchange', 'now and then']
# Rebuilding exchanges nothing: that line lies below the picture.
milliseconds(i, k) = column(5 + k) > 0 ? 1000 * column(5 + k) : i == 1 && k == 6 ? 1e-9 : NaN
terms_colours = '#555555 #d4ac0d #2471a3 #1e8449 #c0392b #8e44ad #aaaaaa'
set terminal svg size 900,640
set output 'plots/parts.svg'
set multiplot layout 2,2
set logscale y
set yrange [0.01:100000]
set format y '%g'
set ylabel 'ms'
do for [i=1:4] {
  set title titles[i]
  if (i == 1) { set key top left vertical maxrows 4 samplen 1.5 font ',10' } else { unset key }
  plot for [k=1:7] 'curves.csv' using (of('weak', 32768, i)):(milliseconds(i, k)) \
      with lines lw 2 lc rgb word(terms_colours, k) notitle, \
    for [k=1:7] keyentry with lines lw 2 lc rgb word(terms_colours, k) title terms[k]
}
unset multiplot

set terminal svg size 900,420
set output 'plots/check.svg'
unset title
unset logscale
set xrange [-0.5:*]
set yrange [0:1.6]
unset xlabel
set ylabel 'foretold step / measured step'
set xtics rotate by 30 right font ',11'
set bmargin 8
set key top right vertical maxrows 2 reverse Left samplen 1 font ',13'
run(x) = sprintf('%s: %d processes, %s, %s', strcol(1), column(2), strcol(4), strcol(3))
plot 1 with lines lc rgb '#999999' dt 3 notitle, \
  'check.csv' using 0:($6 / $5):xtic(run(0)) with points pt 6 lc rgb '#2471a3' title 'from runs alone on the machine', \
  '' using 0:($7 / $5) with points pt 7 ps 0.6 lc rgb '#c0392b' title 'from runs beside as many others'
