// The op set, one function an op, as the sentences of eggroll/ops.h say.
#include <algorithm>
#include <cstdlib>

#include "member.h"

namespace eggroll::reference {
namespace {

const std::vector<int8_t>& input(const OpCall& call, int which) {
  return call.frame.values[static_cast<size_t>(call.op.in[which])];
}

std::vector<int8_t>& output(const OpCall& call) { return call.frame.values[static_cast<size_t>(call.op.out)]; }

bool wide(const OpCall& call, int32_t value) { return call.model.program->values[value].is_wide != 0; }

size_t size(const OpCall& call) { return static_cast<size_t>(call.model.program->values[call.op.out].size); }

// Channel i of an input of either width.
int32_t element(const OpCall& call, int which, size_t i) {
  const auto value = static_cast<size_t>(call.op.in[which]);
  return wide(call, call.op.in[which]) ? call.frame.wide_values[value][i] : call.frame.values[value][i];
}

// Channel i of the output: clipped where it is not wide.
void put(const OpCall& call, size_t i, int32_t x) {
  const auto value = static_cast<size_t>(call.op.out);
  if (wide(call, call.op.out)) {
    call.frame.wide_values[value][i] = x;
  } else {
    call.frame.values[value][i] = egg_clip8(x);
  }
}

const egg_param& param(const OpCall& call, int which) {
  return call.model.program->params[static_cast<size_t>(call.op.param[which])];
}

const Weights& weights(const OpCall& call, int which) {
  return call.model.weights[static_cast<size_t>(call.op.param[which])];
}

// Null where this member leaves the parameter as it is.
const ParamNoise* noise(const OpCall& call, int which) {
  if (call.noise == nullptr) return nullptr;
  const ParamNoise& drawn = (*call.noise)[static_cast<size_t>(call.op.param[which])];
  return drawn.a.empty() ? nullptr : &drawn;
}

int32_t nearest(const OpCall& call) { return call.model.nearest(); }

// Element i of a vector parameter as this member sees it: the primed gain and bias of eggroll/ops.h.
int32_t vector_element(const OpCall& call, int which, size_t i) {
  if (call.op.param[which] < 0) return 0;
  const int32_t weight = weights(call, which)[i];
  const ParamNoise* n = noise(call, which);
  if (n == nullptr) return weight;
  const int32_t shift = call.model.vector_shift();
  return egg_perturbed(weight, n->a[i] * n->b[i], call.sign, shift, nearest(call));
}

// Sum of products; int32 holds it, as the host has proved.
template <class A, class B>
int32_t dot(const A* a, const B* b, size_t count) {
  int32_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<int32_t>(a[i]) * static_cast<int32_t>(b[i]);
  return sum;
}

void run_embed(const OpCall& call) {
  const size_t width = size(call);
  const auto before = [&](size_t d) { return call.op.in[0] < 0 ? 0 : int32_t{input(call, 0)[d]}; };
  const size_t row = call.op.attr == 0 ? call.token : call.rows[call.op.attr - 1];
  if (row == EGG_NO_ROW) {
    for (size_t d = 0; d < width; ++d) put(call, d, before(d));
    return;
  }
  const int16_t* weights_of_row = weights(call, 0).data() + row * width;
  const ParamNoise* n = noise(call, 0);
  const auto rows = static_cast<size_t>(param(call, 0).rows);
  const int32_t shift = call.model.params[static_cast<size_t>(call.op.param[0])].shift;
  for (size_t d = 0; d < width; ++d) {
    int32_t perturbation = 0;
    if (n != nullptr) {
      int32_t ab = 0;
      for (size_t r = 0; r < static_cast<size_t>(call.model.noise.rank); ++r) {
        ab += n->a[r * rows + row] * n->b[r * width + d];
      }
      perturbation = call.sign * egg_rshift(ab, shift, nearest(call));
    }
    put(call, d, before(d) + weights_of_row[d] + perturbation);
  }
}

void run_linear(const OpCall& call) {
  const std::vector<int8_t>& x = input(call, 0);
  const size_t inputs = x.size();
  const size_t outputs = size(call);
  const Weights& w = weights(call, 0);
  int16_t* wide = call.frame.widened.data();
  std::copy(x.begin(), x.end(), wide);

  const ParamNoise* n = noise(call, 0);
  const size_t ranks = n == nullptr ? 0 : static_cast<size_t>(call.model.noise.rank);
  const int32_t q_shift = call.model.q_shift();
  int32_t q[64];  // by rank
  for (size_t r = 0; r < ranks; ++r) {
    q[r] = egg_linear_q(dot(wide, n->b.data() + r * inputs, inputs), q_shift, nearest(call));
  }
  for (size_t o = 0; o < outputs; ++o) {
    int32_t perturbation = 0;
    for (size_t r = 0; r < ranks; ++r) perturbation += q[r] * n->a[r * outputs + o];
    const int32_t acc = dot(wide, w.data() + o * inputs, inputs);
    put(call, o,
        egg_linear_out(acc, call.sign * perturbation, call.op.attr, nearest(call)) + vector_element(call, 1, o));
  }
}

void run_l1_norm(const OpCall& call) {
  const std::vector<int8_t>& x = input(call, 0);
  std::vector<int8_t>& y = output(call);
  int32_t sum_abs = 0;
  for (const int8_t value : x) sum_abs += std::abs(value);
  const int32_t mean = egg_l1_mean(sum_abs, static_cast<int32_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] =
        egg_l1_norm(x[i] * vector_element(call, 0, i), mean, vector_element(call, 1, i), call.op.attr, nearest(call));
  }
}

void run_add(const OpCall& call) {
  for (size_t i = 0; i < size(call); ++i) {
    put(call, i, element(call, 0, i) + (call.op.in[1] >= 0 ? element(call, 1, i) : 0) + vector_element(call, 1, i));
  }
}

void run_gru_gate(const OpCall& call) {
  const std::vector<int8_t>& f = input(call, 0);
  const std::vector<int8_t>& h = input(call, 1);
  std::vector<int8_t>& y = output(call);
  for (size_t i = 0; i < f.size(); ++i) y[i] = egg_gru_gate(f[i], h[i]);
}

void run_gru_mix(const OpCall& call) {
  const std::vector<int8_t>& f = input(call, 0);
  const std::vector<int8_t>& h = input(call, 1);
  const std::vector<int8_t>& c = input(call, 2);
  std::vector<int8_t>& y = output(call);
  for (size_t i = 0; i < f.size(); ++i) y[i] = egg_gru_mix(f[i], h[i], c[i]);
}

void run_store(const OpCall& call) { call.frame.stored[static_cast<size_t>(call.op.out)] = input(call, 0); }

const int32_t* table(const OpCall& call) { return call.model.program->tables[call.op.table].entries; }

void run_lut(const OpCall& call) {
  for (size_t i = 0; i < size(call); ++i) put(call, i, table(call)[element(call, 0, i) + 128]);
}

void run_max_norm(const OpCall& call) {
  int32_t largest = 0;
  for (size_t i = 0; i < size(call); ++i) largest = std::max(largest, std::abs(element(call, 0, i)));
  for (size_t i = 0; i < size(call); ++i) put(call, i, egg_max_norm(element(call, 0, i), largest));
}

void run_rope(const OpCall& call) {
  const auto head = static_cast<size_t>(call.op.head);
  const int32_t* angles = table(call) + call.frame.position * head;
  for (size_t i = 0; i < size(call); i += 2) {
    const int32_t c = angles[i % head];
    const int32_t d = angles[i % head + 1];
    const int32_t x0 = element(call, 0, i);
    const int32_t x1 = element(call, 0, i + 1);
    put(call, i, egg_rotate(x0, c, x1, -d));
    put(call, i + 1, egg_rotate(x0, d, x1, c));
  }
}

// One head: channels [first, first + head).
void attend(const OpCall& call, const Cache& cache, size_t first) {
  const auto head = static_cast<size_t>(call.op.head);
  const size_t begin = call.frame.first_visible;
  const size_t end = call.frame.position + size_t{1};
  std::vector<int32_t> scores(end);
  for (size_t j = begin; j < end; ++j) {
    const int32_t product = dot(input(call, 0).data() + first, cache.keys.data() + j * size(call) + first, head);
    scores[j] = egg_rshift(product, call.op.attr, nearest(call));
  }
  const int32_t largest = *std::max_element(scores.begin() + static_cast<ptrdiff_t>(begin), scores.end());
  std::vector<int64_t> sums(head);
  int64_t total = 0;
  for (size_t j = begin; j < end; ++j) {
    const int64_t weight = table(call)[egg_attention_index(scores[j], largest, call.op.mode)];
    total += weight;
    for (size_t i = 0; i < head; ++i) sums[i] += weight * cache.values[j * size(call) + first + i];
  }
  for (size_t i = 0; i < head; ++i) {
    put(call, first + i, egg_divide(sums[i], std::max<int64_t>(1, total), nearest(call)));
  }
}

void run_attention(const OpCall& call) {
  Cache& cache = call.frame.caches[static_cast<size_t>(call.op.out)];
  const auto at = static_cast<ptrdiff_t>(call.frame.position * size(call));
  std::copy(input(call, 1).begin(), input(call, 1).end(), cache.keys.begin() + at);
  std::copy(input(call, 2).begin(), input(call, 2).end(), cache.values.begin() + at);
  for (size_t first = 0; first < size(call); first += static_cast<size_t>(call.op.head)) attend(call, cache, first);
}

void run_loss(const OpCall& call) {
  if (call.target == EGG_NO_TARGET) return;
  const std::vector<int8_t>& logits = input(call, 0);
  const int32_t largest = *std::max_element(logits.begin(), logits.end());
  uint64_t sum = 0;
  for (const int8_t logit : logits) sum += call.model.loss_tables.exp2_q30[largest - logit];
  call.loss += egg_loss_q16(sum, largest, logits[call.target], call.op.attr, call.model.loss_tables.log2_q24);
}

}  // namespace

#define EGG_OP_FUNCTION(code, name, ...) &run_##name,
const OpFunction kOps[EGG_OP_COUNT] = {EGG_OPS(EGG_OP_FUNCTION)};
#undef EGG_OP_FUNCTION

}  // namespace eggroll::reference
