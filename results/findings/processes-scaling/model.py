#!/usr/bin/env python3
"""Step time of runs that processes share: a model, its check against measured runs, and what it says of many GPUs.

  results/findings/processes-scaling/model.py      # rewrites tables.md, *.csv and plots/ from parameters.json and measured/

The same inputs make the same files, and the same gnuplot the same pictures. README.md says what each term means.
"""
import csv
import json
import math
import random
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
POPULATION_STEPS = HERE.parent.parent / "0.1" / "gru-population-h200.csv"
TITLES = {"rebuilt": "rebuilt on every process", "sharded": "sharded by tensor", "rows": "sharded by rows",
          "votes": "votes reduced"}
SCHEMES = list(TITLES)
MOST = 1_000_000  # processes looked at for a limit


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fit_line(points):
    """a + b x, least squares of relative deviations."""
    w = [1 / y**2 for _, y in points]
    mx = sum(wi * x for wi, (x, _) in zip(w, points)) / sum(w)
    my = sum(wi * y for wi, (_, y) in zip(w, points)) / sum(w)
    b = sum(wi * (x - mx) * (y - my) for wi, (x, y) in zip(w, points)) / sum(
        wi * (x - mx) ** 2 for wi, (x, _) in zip(w, points))
    return my - b * mx, b


def interpolated(points, x):
    """Straight lines between sorted points, flat before the first, the last line beyond the last."""
    x = max(x, points[0][0])
    right = max(1, next((i for i, (at, _) in enumerate(points) if at >= x), len(points) - 1))
    (x0, y0), (x1, y1) = points[right - 1], points[right]
    return y0 + (x - x0) * (y1 - y0) / (x1 - x0)


def gru_shapes(width, layers=6):
    """(rows, cols) of the tensors of `eggroll show model=gru`; vectors have one column."""
    layer = [(width, width)] * 4 + [(4 * width, width), (width, 4 * width)] + [(width, 1)] * 4
    return [(256, width), *layer * layers, (width, 1), (256, width)]


def largest_share(work, processes):
    """Of the whole, what the busiest process has where each tensor goes to the process that has least, heaviest first."""
    loads = [0.0] * min(processes, len(work))
    for w in sorted(work, reverse=True):
        loads[loads.index(min(loads))] += w
    return max(loads) / sum(work)


def spread_of(factors):
    """Sorted, of mean 1."""
    factors = sorted(factors)
    return [x / statistics.fmean(factors) for x in factors]


class Gpu:
    """One H200 with a GRU of 6 layers x 256 and 100 tokens, as measured, and how other models are scaled from it."""

    def __init__(self, p, width=256):
        times = defaultdict(list)
        for row in read_csv(POPULATION_STEPS):
            if int(row["step"]) > 4:
                times[int(row["population"])].append((float(row["forward_seconds"]), float(row["step_seconds"])))
        forward = {m: statistics.median(f for f, _ in t) for m, t in times.items()}
        rest = {m: statistics.median(s - f for f, s in t) for m, t in times.items()}
        self.forward_spread = spread_of(f / forward[m] for m, t in times.items() for f, _ in t)
        self.update_spread = spread_of((s - f) / rest[m] for m, t in times.items() for f, s in t)
        self.forward_points = sorted(forward.items())
        # What the measured rest has of the host's work goes off, for that is a term of its own.
        host = 0.5e-9 * sum(p[k] for k in ("pack_ns", "unpack_ns", "spread_ns", "journal_ns"))
        fixed, self.vote_seconds = fit_line([(m, r - host * m) for m, r in sorted(rest.items())])
        self.fixed, self.rule = fixed - p["rule_seconds"], p["rule_seconds"]
        self.shapes, base = gru_shapes(width), gru_shapes(256)
        self.weights = sum(r * c for r, c in self.shapes)
        self.products = self.weights / sum(r * c for r, c in base)
        self.noise = sum(map(sum, self.shapes)) / sum(map(sum, base))

    def forward(self, m):
        return self.products * interpolated(self.forward_points, m)

    def update(self, p, population, noise=1.0, products=1.0, rule=1.0):
        """Seconds of votes and rule; of the whole update's work, the parts that a process has."""
        votes = p["noise_share"] * self.noise * noise + (1 - p["noise_share"]) * self.products * products
        return self.fixed + self.rule * self.products * rule + p["vote_factor"] * self.vote_seconds * population * votes


def parts(p, gpu, processes, m, scheme):
    """Seconds of the mean step's terms; m members a process, which has p["devices"] GPUs."""
    pairs = processes * m / 2
    t = {"forward": p["tokens"] / 100 * gpu.forward(m / p["devices"])}
    update, exchange = update_parts(p, gpu, processes, m, scheme)
    n = processes * p["devices"]
    slow, slow_update = (largest_of(spread, n) - 1 for spread in (gpu.forward_spread, gpu.update_spread))
    late = p["straggle_seconds"] * (1 - (1 - p["straggle_chance"]) ** n)
    t["wait"] = t["forward"] * slow + update * slow_update + late
    t["gather"] = all_gather(p, processes, 48 + m / 2 * p["pair_bytes"]) if processes > 1 else 0.0
    t["host"] = 1e-9 * (m / 2 * p["pack_ns"] + pairs * (p["unpack_ns"] + p["spread_ns"] + p["journal_ns"]))
    t.update({"update": update, "exchange": exchange})
    t["now and then"] = p["evaluation_seconds"] * gpu.products / p["evaluation_every"]
    if processes > 1:
        t["now and then"] += gpu.weights * (p["sha256_seconds_per_byte"] + 1 / p["pcie"]) / p["checksum_every"]
    return t


def update_parts(p, gpu, processes, m, scheme):
    """Seconds of votes and rule on the busiest GPU, and of what GPUs send one another for them."""
    population, weights, cells = processes * m, gpu.weights, sum(map(sum, gpu.shapes))
    if p["devices"] > 1:  # a process's GPUs make votes of pairs of their own, and each adds up all
        return gpu.update(p, population / p["devices"]), (p["devices"] - 1) * p["vote_bytes"] * weights / p["nvlink"]
    if processes == 1 or scheme == "rebuilt":
        return gpu.update(p, population), 0.0
    cross = through_host(p, gpu.shapes)
    if scheme == "sharded":
        products = largest_share([r * c for r, c in gpu.shapes], processes)
        noise = largest_share([r + c for r, c in gpu.shapes], processes)
        sent = all_gather(p, processes, products * weights, weights)
        return gpu.update(p, population, noise, products, products), sent + cross
    if scheme == "rows":  # of a run of whole rows the noise of these, and of all columns of the tensors it touches
        columns = max(c for _, c in gpu.shapes)
        share = max(1 / processes, columns / weights)
        noise = min(1.0, 1 / processes + columns / cells)
        return gpu.update(p, population, noise, share, share), all_gather(p, processes, share * weights, weights) + cross
    # votes: of a process's own pairs, added up over the processes by recursive halving; then rule and weights by rows.
    halving = math.ceil(math.log2(processes)) * p["latency"] + (1 - 1 / processes) * p["vote_bytes"] * weights / p["bandwidth"]
    return gpu.update(p, m, rule=1 / processes), halving + all_gather(p, processes, weights / processes)


def through_host(p, shapes):
    """Seconds to exchange weights by way of a GPU's host: each tensor is read and set."""
    return 2 * (sum(r * c for r, c in shapes) / p["pcie"] + len(shapes) * p["call"])


def all_gather(p, processes, largest, everything=None):
    """largest: bytes of the process that sends most; everything: of all processes, where they differ."""
    everything = processes * largest if everything is None else everything
    if p["gather"] == "linear":  # each process to each other one, as MPI_Iallgatherv of Open MPI does
        return p["latency"] + (processes - 1) * p["message"] + max((processes - 1) * largest, everything) / p["bandwidth"]
    if p["gather"] == "ring":
        return (processes - 1) * p["latency"] + (everything + largest) / p["bandwidth"]
    return math.ceil(math.log2(processes)) * p["latency"] + everything / p["bandwidth"]


def largest_of(values, n):
    """Mean of the largest of n draws from these, sorted."""
    k = len(values)
    return sum(x * (((i + 1) / k) ** n - (i / k) ** n) for i, x in enumerate(values))


def total(p, gpu, processes, m, scheme):
    return sum(parts(p, gpu, processes, m, scheme).values())


def weak(p, gpu, processes, m, scheme):
    return total(p, gpu, 1, m, scheme) / total(p, gpu, processes, m, scheme)


def strong(p, gpu, processes, population, scheme):
    return total(p, gpu, 1, population, scheme) / processes / total(p, gpu, processes, population / processes, scheme)


def limit(efficiency):
    """The least number of processes at which it is below a half; None where it is not up to MOST."""
    if efficiency(MOST) >= 0.5:
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if efficiency(middle) >= 0.5 else (low, middle)
    return high


def simulate(processes, steps, forward, update, first, second, after):
    """Seconds of each step of processes with a clock each. forward() and update() draw a process's seconds; all wait for all
    in a gather of `first` seconds behind their forward passes and, if `second` is not None, again behind the update."""
    clocks, ends = [0.0] * processes, [0.0]
    for _ in range(steps):
        gathered = max(clock + forward() for clock in clocks) + first + after
        clocks = [gathered + update() for _ in clocks]
        if second is not None:
            clocks = [max(clocks) + second] * processes
        ends.append(clocks[0])
    return [b - a for a, b in zip(ends, ends[1:])]


def write_csv(name, head, rows):
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def table(head, rows):
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in [head, ["---"] * len(head), *rows])


def shown(processes):
    return f"above {MOST:,}" if processes is None else f"{processes:,}"


def ms(seconds):
    return f"{1e3 * seconds:.2f}" if seconds < 0.1 else f"{1e3 * seconds:,.0f}"


def load_parameters():
    raw = json.loads((HERE / "parameters.json").read_text(encoding="utf-8"))
    bench = json.loads((HERE / "measured" / "host.json").read_text(encoding="utf-8"))["benchmarks"]
    host = {b["name"].removesuffix("/manual_time_median"): b["ns_per_pair"] for b in bench}
    for name in ("pack", "unpack", "spread", "journal"):
        raw[name + "_ns"]["value"] = round(host[raw[name + "_ns"]["source"].split(", ")[1].split(";")[0]], 2)
    choices = {"gather": "linear", "pair_bytes": 0.2, "devices": 1, "vote_factor": 1.0}  # signs: five a byte
    return raw, {**{key: entry["value"] for key, entry in raw.items()}, **choices}


def curves(p, gpu):
    grid = sorted({round(10 ** (e / 12)) for e in range(49)} | {2**e for e in range(14)})
    sizes = [("weak", weak, 8192), ("weak", weak, 32768), ("strong", strong, 2**20), ("strong", strong, 2**25)]
    rows = [[name, n, scheme, r, f"{of(p, gpu, r, n, scheme):.4f}",
             *(f"{x:.6f}" for x in parts(p, gpu, r, n if of is weak else n / r, scheme).values())]
            for name, of, n in sizes for scheme in SCHEMES for r in grid]
    write_csv("curves.csv", ["scaling", "members", "update", "processes", "efficiency", "forward", "wait", "gather", "host",
                             "update_seconds", "exchange", "now_and_then"], rows)


def models(p):
    return [("GRU 6 x 256", Gpu(p)), ("GRU 6 x 1024", Gpu(p, width=1024))]


def limits_table(p):
    cases = [("8,192 members a GPU", weak, 8192), ("32,768 members a GPU", weak, 32768),
             ("131,072 members a GPU", weak, 131072), ("2^20 members in all", strong, 2**20),
             ("2^25 members in all", strong, 2**25)]
    return table(["model", "population", *TITLES.values(), "sharding by tensor is faster from"],
                 [[name, what, *(shown(limit(lambda r: of(p, gpu, r, n, s))) for s in SCHEMES),
                   next(r for r in range(2, MOST) if of(p, gpu, r, n, "sharded") > of(p, gpu, r, n, "rebuilt"))]
                  for name, gpu in models(p) for what, of, n in cases])


def at_ten_thousand(p):
    rows = []
    for name, gpu, scheme in ((*model, scheme) for model in models(p) for scheme in SCHEMES):
        t = parts(p, gpu, 10_000, 32768, scheme)
        rows.append([name, TITLES[scheme], *(ms(x) for x in t.values()), ms(sum(t.values())),
                     f"{100 * weak(p, gpu, 10_000, 32768, scheme):.1f} %"])
    return table(["model", "update", *(k + ", ms" for k in t), "step, ms", "efficiency"], rows)


def moves_table(p):
    """What moves the point, at 32,768 members a GPU."""
    lean = {"unpack_ns": 0.0, "spread_ns": 0.0, "journal_ns": 0.0}
    changes = [("nothing", {}), ("4 times the tokens in a step", {"tokens": 400}),
               ("votes made twice as fast", {"vote_factor": 0.5}),
               ("the host's work on all pairs on 16 threads", {k: p[k] / 16 for k in lean}),
               ("the host's work on all pairs by no host (packed signs to the GPU, no journal)", lean),
               ("an all-gather by recursive doubling", {"gather": "doubling"}),
               ("an all-gather by a ring", {"gather": "ring"}),
               ("doubling, and no host's work", {"gather": "doubling", **lean}),
               ("weights exchanged by GPUs, not by their hosts", {"pcie": math.inf, "call": 0.0}),
               ("latency and messages 5 times as slow", {"latency": 1e-5, "message": 5e-6}),
               ("a tenth of the bandwidth", {"bandwidth": 5e9}),
               ("a process has eight GPUs (backend.devices), which share votes", {"devices": 8}),
               ("a fitness of 64 bits a pair", {"pair_bytes": 8.0}),
               ("one step of a process in 10,000 is 100 ms late", {"straggle_chance": 1e-4})]
    rows = []
    for what, change in changes:
        q, gpu = {**p, **change}, Gpu(p)
        n, one = q["devices"], total({**q, "devices": 1}, gpu, 1, 32768, "rebuilt")
        processes = [limit(lambda r: one / total(q, gpu, r, n * 32768, s)) for s in SCHEMES]
        rows.append([what, *(shown(r and n * r) if n == 1 or s == "rebuilt" else "" for r, s in zip(processes, SCHEMES))])
    return table(["what changes", *TITLES.values()], rows)


def simulated_table(p):
    """The model's mean step beside that of simulated processes, each with draws of its own from the measured spread."""
    random.seed(20261122)
    gpu, rows = Gpu(p), []
    for scheme in SCHEMES:
        for processes in (2, 8, 64, 512, 4096, 10_000):
            t = parts(p, gpu, processes, 32768, scheme)
            second = None if scheme == "rebuilt" else t["exchange"]
            seen = simulate(processes, 200 if processes < 4096 else 40,
                            lambda: t["forward"] * random.choice(gpu.forward_spread),
                            lambda: t["update"] * random.choice(gpu.update_spread),
                            t["gather"], second, t["host"] + t["now and then"])
            rows.append([scheme, processes, f"{sum(t.values()):.6f}", f"{statistics.fmean(seen):.6f}",
                         f"{max(seen):.6f}", f"{total(p, gpu, 1, 32768, scheme):.6f}"])
    write_csv("simulation.csv", ["update", "processes", "model_seconds", "simulated_seconds", "slowest_step_seconds",
                                 "one_gpu_seconds"], rows)
    return table(["update", "processes", "model, ms", "simulated, ms", "slowest simulated step, ms"],
                 [[TITLES[s], f"{r:,}", *(ms(float(x)) for x in seconds[:3])] for s, r, *seconds in rows])


class Measured:
    """A folder of tools/measure_processes: what runs of one process and the all-gather alone say of shared runs."""

    def __init__(self, folder):
        self.name = folder.name
        self.machine = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
        self.replays = read_csv(folder / "replay.csv")
        self.pieces, self.gathers, self.shared = defaultdict(list), defaultdict(list), defaultdict(list)
        for row in read_csv(folder / "pieces.csv"):
            forward, step = float(row["forward_seconds"]), float(row["step_seconds"])
            self.pieces[int(row["at_once"]), int(row["population"])].append((forward, step - forward))
        for row in read_csv(folder / "gather.csv"):
            self.gathers[int(row["processes"]), int(row["bytes_per_process"])].append(float(row["seconds"]))
        for row in read_csv(folder / "shared.csv"):
            key = int(row["processes"]), row["update"], int(row["population"])
            self.shared[key].append(float(row["step_seconds"]))

    def gather(self, processes, size):
        return interpolated(sorted((b, statistics.median(t)) for (r, b), t in self.gathers.items() if r == processes), size)

    def foretold(self, p, processes, update, population, at_once):
        own, whole = self.pieces[at_once, population // processes], self.pieces[at_once, population]
        share, second = 1.0, None
        if update == "sharded":
            shapes = [tuple(map(int, (s + "x1").split("x")[:2])) for s in self.machine["params"].values()]
            work = [r * c for r, c in shapes]
            share, second = largest_share(work, processes), self.gather(processes, sum(work) / processes)
            second += through_host(p, shapes) if self.machine["backend"] == "cuda" else 0.0
        random.seed(self.machine["population"] + processes)
        steps = simulate(processes, 400, lambda: random.choice(own)[0], lambda: share * random.choice(whole)[1],
                         self.gather(processes, 48 + math.ceil(population / 2 / processes / 5)), second, 0.0)
        return statistics.median(steps)

    def checks(self, p):
        for (processes, update, population), seconds in sorted(self.shared.items()):
            one = statistics.median(f + r for f, r in self.pieces[1, population])
            yield [self.name, processes, update, population, statistics.median(seconds),
                   *(self.foretold(p, processes, update, population, at_once) for at_once in (1, processes)), one]

    def gather_rows(self):
        sizes = sorted({size for _, size in self.gathers})
        for processes in sorted({r for r, _ in self.gathers}):
            yield [self.name, processes, *(f"{1e6 * self.gather(processes, size):.1f}" for size in sizes)]

    def replay_row(self):
        first, seconds = self.replays[0], statistics.median(float(row["replay_seconds"]) for row in self.replays)
        run, members = float(first["run_seconds"]), int(first["population"])
        return [self.name, f"{members:,}", first["steps"], f"{run:.2f}", f"{seconds:.2f}", f"{run / seconds:.1f}"]


def check_tables(p, measured):
    rows = [row for m in measured for row in m.checks(p)]
    write_csv("check.csv", ["machine", "processes", "update", "population", "measured_seconds", "from_runs_alone",
                            "from_runs_beside_others", "one_process_seconds"],
              [row[:4] + [f"{x:.6f}" for x in row[4:]] for row in rows])
    machines = "".join(f"- `{m.name}`: {m.machine['device']}, {m.machine['plan']}; {m.machine['mpi']}; at commit "
                       f"{m.machine['commit']}\n" for m in measured)
    return machines + "\n" + table(
        ["machine", "processes", "update", "population", "one process, ms", "shared, ms", "foretold, ms", "off by",
         "from runs beside others, ms", "off by"], [
        [name, processes, update, f"{population:,}", ms(one), ms(seen), ms(alone), f"{100 * (alone / seen - 1):+.1f} %",
         ms(beside), f"{100 * (beside / seen - 1):+.1f} %"]
        for name, processes, update, population, seen, alone, beside, one in rows])


def facts(gpu):
    return (f"Of the H200's table: {1e3 * gpu.fixed:.2f} ms of a step's rest whatever the population, "
            f"{1e3 * gpu.rule:.2f} ms of the rule, {1e9 * gpu.vote_seconds:.1f} ns of votes a member; of "
            f"{len(gpu.forward_spread)} forward passes the slowest took {100 * (gpu.forward_spread[-1] - 1):.1f} % "
            f"more than the mean, of as many rests {100 * (gpu.update_spread[-1] - 1):.1f} %.\n")


def main():
    raw, p = load_parameters()
    measured = [Measured(f) for f in sorted((HERE / "measured").iterdir()) if f.is_dir()]
    curves(p, Gpu(p))
    sizes = sorted({size for m in measured for _, size in m.gathers})
    sections = [
        ("Where efficiency falls below a half", "GPUs.\n\n" + limits_table(p)),
        ("What moves that point", "GPUs, GRU 6 x 256, 32,768 members each.\n\n" + moves_table(p)),
        ("A step of 10,000 GPUs", "32,768 members each.\n\n" + at_ten_thousand(p)),
        ("The model and the simulation", "GRU 6 x 256, 32,768 members each.\n\n" + simulated_table(p)),
        ("Shared runs, foretold and measured", check_tables(p, measured)),
        ("The all-gather between processes of one machine", "Medians in microseconds, by bytes that a process sends.\n\n"
         + table(["machine", "processes", *(f"{s:,}" for s in sizes)], [row for m in measured for row in m.gather_rows()])),
        ("Replays", table(["machine", "population", "steps", "run, s", "replay by a fresh process, s", "run / replay"],
                          [m.replay_row() for m in measured])),
        ("Parameters", table(["", "value", "", "source"], [
            [f"`{k}`", f"{e['value']:g} {e['unit']}".strip(), e["kind"], e["source"]]
            for k, e in raw.items()]) + "\n" + facts(Gpu(p)))]
    text = "# Tables\n\nWritten by `model.py`.\n" + "".join(f"\n## {name}\n\n{body}" for name, body in sections)
    (HERE / "tables.md").write_text(text, encoding="utf-8")
    subprocess.run(["gnuplot", "--default-settings", "plots.gp"], cwd=HERE, check=True)


main()
