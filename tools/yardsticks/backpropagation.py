#!/usr/bin/env python3
"""Measures what backpropagation learns from a text in a given time, with models of the same shape as the project's.

Usage: tools/yardsticks/backpropagation.py --train english-train.bin --valid english-valid.bin --model gru --seconds 60
It needs PyTorch, numpy and one NVIDIA GPU, and prints a curve of training bits and the held-out bits per byte. The models are gru (as
plugins/models/gru with mlp_ratio 0), transformer (as int8nativeformer there), tables (as experiments/tables_gpu.yaml; 27 GB of the GPU's
memory) and tables-gru, the sum of the logits of both. Matrices, vectors, tables and hash are those of the integer models. The arithmetic
is floating: a gate is a sigmoid, a candidate a tanh; queries, keys and the residual stream are not scaled to their largest magnitude.
Matrix products are in TF32, those of the transformer's layers in bfloat16. The cell cudnn is the usual GRU, which has more weights.

--batch streams are spread evenly over the text, from a place that the seed sets. A step reads the next --window bytes of each; the text's
beginning follows its end. The GRU's state is never reset, and gradients end at the window. Attention sees the window alone; contexts of
tables reach over windows. Networks learn by Adam: its --rate rises over 100 steps and falls linearly to 0 at the end. Tables learn by
Adagrad: its rate --adagrad is constant, in nats, and --initial is the gradient that each weight counts as seen before the first; a
gradient is the sum over the step. Sums on the GPU have no fixed order, so two runs of one seed differ a little.

The held-out file is read by 64 streams, each of which begins with nothing before it; every byte but the file's first is scored once. The
GRU's state is carried on. A context that would begin before the stream adds nothing. The transformer reads the last half window again
before each half window that it scores. Seconds of training count from the moment when both files are read; the evaluation is not in them.
"""
import argparse
import math
import sys
import time
START = time.perf_counter()
try:
    import numpy
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as missing:
    sys.exit(f"{missing}, expected PyTorch and numpy; install them")

VOCAB, EVAL_STREAMS, HEAD_WIDTH = 256, 64, 32  # the last: channels of an attention head
ROWS = [VOCAB, 1 << 16, 1 << 18, 1 << 20, 1 << 21, 1 << 21, 1 << 21, 1 << 20]  # of the tables of 1, 2, ... 8 bytes
# A model has these options and no others.
GRU = {"width": 256, "layers": 1, "cell": "own", "rate": 4e-3, "batch": 256, "window": 64, "passes": math.inf}
FORMER = {"width": 64, "layers": 2, "head": "tied", "rate": 4e-3, "batch": 256, "window": 128, "passes": math.inf}
TABLE = {"adagrad": 0.1, "initial": 0.15, "batch": 8192, "window": 16, "passes": 1.0}
DEFAULTS = {"gru": GRU, "transformer": FORMER, "tables": TABLE, "tables-gru": {**GRU, **TABLE, "rate": 2e-3, "batch": 512, "window": 32}}
OPTIONS = {**FORMER, **DEFAULTS["tables-gru"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = lambda message: sys.exit(f"{message}; see --help")
    parser.add_argument("--train", type=argparse.FileType("rb"), required=True, help="the text to learn from")
    parser.add_argument("--valid", type=argparse.FileType("rb"), required=True, help="the held-out text")
    parser.add_argument("--model", choices=list(DEFAULTS), required=True)
    parser.add_argument("--seconds", type=float, default=60.0, help="of training, at most; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of weights and of the streams' place; default: %(default)s")
    parser.add_argument("--take", metavar="BYTES", type=int, help="the first bytes of the training text that are used")
    parser.add_argument("--out", metavar="FILE", help="a CSV file that gets one more line")
    parser.add_argument("--eager", action="store_true", help="no CUDA graph")
    for name, value in OPTIONS.items():
        defaults = {model: options[name] for model, options in DEFAULTS.items() if name in options}
        parser.add_argument("--" + name, type=type(value), help=f"default: {defaults}",
                            choices={"cell": ["own", "cudnn"], "head": ["tied", "untied"]}.get(name))
    options = parser.parse_args()
    for name in ["seconds", "take", *OPTIONS]:
        value = getattr(options, name)
        if isinstance(value, (int, float)) and not value > 0:
            sys.exit(f"--{name} is {value}, expected a number above 0")
        default = DEFAULTS[options.model].get(name)
        if name in OPTIONS and value is not None and default is None:
            sys.exit(f"--{name} is given, but {options.model} has no such option; leave it out")
        setattr(options, name, default if value is None else value)
    if options.model == "transformer" and (options.width % HEAD_WIDTH != 0 or options.window % 2 != 0):
        sys.exit(f"--width is {options.width} and --window {options.window}, expected a multiple of {HEAD_WIDTH} and an even number")
    return options


class Norm(nn.LayerNorm):  # but by the mean magnitude
    def forward(self, x):
        y = x / x.abs().mean(-1, keepdim=True).clamp(min=1e-5) * self.weight
        return y if self.bias is None else y + self.bias


class OwnCell(nn.Module):  # called as nn.GRU is
    def __init__(self, width):
        super().__init__()
        self.forget_x, self.candidate_x = nn.Linear(width, width), nn.Linear(width, width)
        self.forget_h, self.candidate_h = (nn.Parameter(torch.randn(width, width) / math.sqrt(width)) for _ in range(2))

    def forward(self, x, state):
        h, states = state[0], []
        for forget_x, candidate_x in zip(self.forget_x(x).unbind(1), self.candidate_x(x).unbind(1)):
            forget = torch.sigmoid(torch.addmm(forget_x, h, self.forget_h))
            h = torch.lerp(h, torch.tanh(torch.addmm(candidate_x, forget * h, self.candidate_h)), forget)
            states.append(h)
        return torch.stack(states, 1), h[None]


class Gru(nn.Module):
    def __init__(self, options):
        super().__init__()
        width, layers = options.width, range(options.layers)
        self.embedding = nn.Parameter(torch.randn(VOCAB, width))
        self.norms = nn.ModuleList([Norm(width, bias=False) for _ in layers])
        self.cells = nn.ModuleList([OwnCell(width) if options.cell == "own" else nn.GRU(width, width, batch_first=True) for _ in layers])
        self.norm_out = Norm(width, bias=False)
        self.head = nn.Parameter(torch.zeros(VOCAB, width))

    def forward(self, tokens, state):
        x, after = self.embedding.index_select(0, tokens.flatten()).unflatten(0, tokens.shape), []
        for norm, cell, h in zip(self.norms, self.cells, state.split(1)):
            made, h = cell(norm(x), h)
            x = x + made
            after.append(h)
        return functional.linear(self.norm_out(x), self.head), torch.cat(after)


class Attention(nn.Module):
    def __init__(self, width, context):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        angles = torch.arange(context)[:, None] * 10000.0 ** (-torch.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH)
        self.cos, self.sin = angles.cos(), angles.sin()

    def forward(self, x):
        qk, v = self.qkv(x).unflatten(-1, (3, -1, HEAD_WIDTH)).permute(2, 0, 3, 1, 4).split([2, 1])
        a, b = qk.unflatten(-1, (-1, 2)).unbind(-1)  # channels 2i and 2i + 1 are a pair
        cos, sin = self.cos[:x.shape[1]], self.sin[:x.shape[1]]
        q, k = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).unbind(0)
        return self.out(functional.scaled_dot_product_attention(q, k, v[0], is_causal=True).transpose(1, 2).flatten(-2))


class Transformer(nn.Module):
    def __init__(self, options):
        super().__init__()
        width = options.width
        self.embedding = nn.Parameter(torch.randn(VOCAB, width) / math.sqrt(width))  # small enough for a tied head
        self.bias = nn.Parameter(torch.zeros(width))
        self.blocks = nn.ModuleList([
            nn.Sequential(Norm(width), Attention(width, options.window)) if block % 2 == 1 else
            nn.Sequential(Norm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for block in range(2 * options.layers + 1)])
        self.norm_out = Norm(width)
        self.head = self.embedding if options.head == "tied" else nn.Parameter(torch.zeros(VOCAB, width))

    def forward(self, tokens, state):
        x = self.embedding.index_select(0, tokens.flatten()).unflatten(0, tokens.shape) + self.bias
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            for block in self.blocks:
                x = x + block(x)
        return functional.linear(self.norm_out(x), self.head), state


class Tables:
    def __init__(self, options):
        self.rate, first = options.adagrad, options.initial ** 2
        self.weights, self.bias = [torch.zeros(rows, VOCAB) for rows in ROWS], torch.zeros(VOCAB)
        self.squares, self.bias_squares = [torch.full_like(w, first) for w in self.weights], torch.full_like(self.bias, first)
        self.sums = [torch.zeros_like(w) for w in self.weights]  # of a step's gradients; zero between steps

    def read(self, tokens, age):
        """The sum of the rows of each token from the eighth on; age: how many tokens of the stream precede that, None: enough."""
        key, logits, self.rows, count = 0, self.bias, [], tokens.shape[1] - len(ROWS) + 1
        for back, weight in enumerate(self.weights):
            token = tokens[:, len(ROWS) - 1 - back:][:, :count]
            key = (key ^ token) + (0x9E3779B97F4A7C15 - (1 << 64))  # egg_absorb of core/include/eggroll/noise.h, in signed words
            for factor in (0xFF51AFD7ED558CCD - (1 << 64), 0xC4CEB9FE1A85EC53 - (1 << 64)):
                key = (key ^ ((key >> 33) & 0x7FFFFFFF)) * factor
            key = key ^ ((key >> 33) & 0x7FFFFFFF)
            row = key & (ROWS[back] - 1) if back > 0 else token
            values = functional.embedding(row, weight)
            if age is not None:
                values = values * (torch.arange(age, age + count) >= back)[:, None]
            logits = logits + values
            self.rows.append(row.reshape(-1))
        return logits

    def learn(self, error):
        for weight, squares, sums, row in zip(self.weights, self.squares, self.sums, self.rows):
            # A row that was read several times is written as often, with the same values.
            gradient = sums.index_add_(0, row, error).index_select(0, row)
            square = squares.index_select(0, row).addcmul_(gradient, gradient)
            moved = weight.index_select(0, row).addcdiv_(gradient, square.sqrt(), value=-self.rate)
            squares.index_copy_(0, row, square)
            weight.index_copy_(0, row, moved)
            sums.index_fill_(0, row, 0.0)
        gradient = error.sum(0)
        self.bias_squares.addcmul_(gradient, gradient)
        self.bias.addcdiv_(gradient, self.bias_squares.sqrt(), value=-self.rate)


class Learner:
    def __init__(self, options, text):
        torch.manual_seed(options.seed)
        self.options, self.text, self.net, self.tables, self.history, self.weights = options, text, None, None, 0, 0
        if options.rate is not None:
            self.net = (Transformer if options.model == "transformer" else Gru)(options)
            self.adam = torch.optim.Adam(self.net.parameters(), torch.tensor(0.0), betas=(0.9, 0.99), fused=True, capturable=True)
            self.weights += sum(weight.numel() for weight in self.net.parameters())
        if options.adagrad is not None:
            self.tables, self.history = Tables(options), len(ROWS) - 1
            self.weights += (sum(ROWS) + 1) * VOCAB
        self.state = torch.zeros(options.layers or 0, options.batch, options.width or 0)  # only the GRU changes it
        # Where each stream reads next: on the GPU, so that a CUDA graph does the reading, too.
        self.positions = torch.arange(options.batch) * len(text) // options.batch + torch.randint(len(text), ())
        self.nats = torch.zeros((), dtype=torch.float64)  # the sum of the steps' mean losses

    def forward(self, window, state, age=None):
        logits = 0.0
        if self.net is not None:
            logits, state = self.net(window[:, self.history:-1], state)
        if self.tables is not None:
            logits = logits + self.tables.read(window[:, :-1], age)
        return logits, functional.log_softmax(logits.detach(), -1), window[:, self.history + 1:, None], state

    def step(self):
        places = self.positions[:, None] + torch.arange(-self.history, self.options.window + 1)
        self.positions.add_(self.options.window)
        logits, log_p, targets, state = self.forward(self.text[places % len(self.text)].long(), self.state)
        self.nats.sub_(log_p.gather(-1, targets).mean())
        # The gradient at the logits: the probabilities, less one at the target.
        error = log_p.exp_().scatter_add_(-1, targets, torch.full(targets.shape, -1.0))
        if self.net is not None:
            self.adam.zero_grad(set_to_none=True)
            logits.backward(error / targets.numel())
            nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            self.adam.step()
            self.state.copy_(state.detach())
        if self.tables is not None:
            self.tables.learn(error.flatten(0, 1))

    def train(self, begin):
        options, step, steps, told_steps, told_seconds = self.options, self.step, 0, 0, 0.0
        last = max(options.passes * (len(self.text) // options.batch // options.window), 1)
        while True:
            if steps % 8 == 0:
                torch.cuda.synchronize()  # the host is never far ahead of the GPU
            progress = max((time.perf_counter() - begin) / options.seconds, steps / last)
            if time.perf_counter() - begin - told_seconds >= 5 or progress >= 1:
                bits = self.nats.item() / max(steps - told_steps, 1) / math.log(2)  # waits for the GPU
                self.nats.zero_()
                told_steps, told_seconds = steps, time.perf_counter() - begin
                print(f"{told_seconds:.2f},{steps},{steps * options.batch * options.window},{bits:.4f}", flush=True)
            if progress >= 1:
                return steps, told_seconds
            if self.net is not None:
                self.adam.param_groups[0]["lr"].fill_(options.rate * min(1, (steps + 1) / 100) * (1 - progress))
            if steps == 3 and not options.eager:  # a capture wants a few steps before it
                graph = torch.cuda.CUDAGraph()
                try:
                    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                        self.step()
                    step = graph.replay
                except RuntimeError as error:
                    print(f"no CUDA graph, the run is slower: {error}", file=sys.stderr)
            step()
            steps += 1

    @torch.no_grad()
    def evaluate(self, text):
        """Bits per byte of all of the text but its first byte."""
        scored, half = len(text) - 1, self.options.window // 2
        edges = torch.arange(EVAL_STREAMS + 1) * scored // EVAL_STREAMS
        starts, lengths = edges[:-1, None], edges.diff()[:, None]
        hop, again = (half, half) if self.options.model == "transformer" else (256, 0)
        state, nats = self.state.new_zeros(len(self.state), EVAL_STREAMS, self.state.shape[2]), 0.0
        for begin in range(0, int(lengths.max()), hop):
            age = max(begin - again, 0)
            places = starts + torch.arange(age - self.history, begin + hop + 1)
            _, log_p, targets, state = self.forward(text[places.clamp(0, scored)].long(), state, age)
            log_p = log_p.gather(-1, targets)[:, -hop:, 0].double()
            nats -= (log_p * (torch.arange(begin, begin + hop) < lengths)).sum()
        return nats.item() / math.log(2) / scored


def main():
    options = parse_arguments()
    text, valid = numpy.fromfile(options.train, numpy.uint8)[:options.take], numpy.fromfile(options.valid, numpy.uint8)
    begin = time.perf_counter()
    if len(text) < options.batch * options.window or len(valid) <= EVAL_STREAMS:
        sys.exit(f"the texts hold {len(text)} and {len(valid)} bytes, expected at least {options.batch * options.window} (--batch times "
               f"--window) and {EVAL_STREAMS + 1}; give more text or lower these")
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no NVIDIA GPU, expected one; run it where nvidia-smi shows one")
    torch.set_default_device("cuda")
    torch.set_float32_matmul_precision("high")  # TF32
    with torch.cuda.stream(torch.cuda.Stream()):  # the default stream cannot be captured
        learner = Learner(options, torch.from_numpy(text).cuda())
        print(f"{options.model}: {learner.weights:,} weights, {len(text):,} bytes of text\nseconds,steps,tokens,training bits", flush=True)
        steps, seconds = learner.train(begin)
        bits = learner.evaluate(torch.from_numpy(valid).cuda())
    process, tokens = time.perf_counter() - START, steps * options.batch * options.window
    print(f"held-out bits per byte {bits:.4f}; {steps} steps, {tokens / len(text):.2f} passes, {seconds:.1f} s, in all {process:.1f} s")
    if options.out is not None:
        line = {"model": options.model, "seed": options.seed, **{name: getattr(options, name) or "" for name in OPTIONS},
                "bytes": len(text), "weights": learner.weights, "steps": steps, "tokens": tokens, "seconds": round(seconds, 2),
                "process_seconds": round(process, 2), "bits": round(bits, 5), "gpu": torch.cuda.get_device_name()}
        with open(options.out, "a", encoding="utf-8") as file:
            if file.tell() == 0:
                print(*line, sep=",", file=file)
            print(*line.values(), sep=",", file=file)


if __name__ == "__main__":
    main()
