#include "token_step.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace backend {
namespace {

void draw_side(const Model& model, uint64_t step, uint32_t pair, uint32_t param, uint32_t side, uint32_t size,
               std::vector<int8_t>& out) {
  const uint32_t ranks = model.lowered.params[param].ranks;
  out.resize(size_t{ranks} * size);
  for (uint32_t r = 0; r < ranks; ++r) {
    model.source.fill(step, pair, param, side, r, out.data() + size_t{r} * size, size);
  }
}

void draw_a(const Model& model, uint64_t step, uint32_t pair, uint32_t param, Noise& noise) {
  draw_side(model, step, pair, param, EGG_SIDE_A, model.lowered.params[param].rows, noise.a);
}

void draw_b(const Model& model, uint64_t step, uint32_t pair, uint32_t param, Noise& noise) {
  draw_side(model, step, pair, param, EGG_SIDE_B, model.lowered.params[param].b_count, noise.b);
}

bool perturbs(const Model& model, uint32_t pair, uint32_t param) {
  const eggroll::LoweredParam& p = model.lowered.params[param];
  return p.perturbed && eggroll::is_perturbed(p.voters, pair);
}

}  // namespace

Model::Model(const egg_session_spec& the_spec)
    : spec(the_spec), program(*spec.program), lowered(spec), source(spec.noise) {
  for (const eggroll::LoweredParam& param : lowered.params) weights.emplace_back(param.count());
  egg_fill_loss_tables(&loss_tables, program.ops[program.op_count - 1].attr);
}

Noise draw(const Model& model, uint64_t step, uint32_t pair, uint32_t param) {
  Noise noise;
  draw_a(model, step, pair, param, noise);
  draw_b(model, step, pair, param, noise);
  return noise;
}

Perturbation draw(const Model& model, uint64_t step, uint32_t pair) {
  Perturbation all{step, pair, std::vector<Noise>(model.program.param_count)};
  for (uint32_t p = 0; p < model.program.param_count; ++p) {
    if (!perturbs(model, pair, p)) continue;
    const eggroll::LoweredParam& param = model.lowered.params[p];
    if (param.vector || param.by_product) draw_a(model, step, pair, p, all.noise[p]);
    draw_b(model, step, pair, p, all.noise[p]);
  }
  return all;
}

Member::Member(const Model& model) : model_(model), nearest_(model.lowered.nearest()) {
  for (uint32_t i = 0; i < model.program.value_count; ++i) {
    values_.emplace_back(static_cast<size_t>(model.program.values[i].size));
  }
  stored_ = values_;
  caches_.resize(values_.size());
}

void Member::put(const egg_op& op, size_t i, int32_t x) {
  const bool wide = model_.program.values[op.out].is_wide != 0;
  values_[static_cast<size_t>(op.out)][i] = wide ? x : egg_clip8(x);
}

int64_t Member::read(const Perturbation* perturbation, int32_t sign, const egg_batch& batch, uint32_t stream,
                     int8_t* states, int8_t* logits) {
  perturbation_ = perturbation;
  sign_ = sign;
  loss_ = 0;
  position_ = 0;
  first_visible_ = 0;
  for (Cache& cache : caches_) cache = Cache{};
  const egg_program& program = model_.program;
  // Calls body(value's number, its place in the member's states) for every state.
  const auto each_state = [&](auto&& body) {
    for (const eggroll::LoweredState& state : model_.lowered.states) body(state.value, states + state.offset);
  };

  each_state([&](uint32_t v, const int8_t* place) { std::copy_n(place, values_[v].size(), values_[v].begin()); });
  for (size_t t = size_t{stream} * batch.tokens; t < (size_t{stream} + 1) * batch.tokens; ++t) {
    if (batch.resets[t] != 0) {
      each_state([&](uint32_t v, const int8_t*) { std::fill(values_[v].begin(), values_[v].end(), 0); });
      first_visible_ = position_;
    }
    token_ = batch.inputs[t];
    target_ = batch.targets[t];
    rows_ = batch.rows + t * program.index_count;
    for (uint32_t i = 0; i < program.op_count; ++i) {
      const OpFunction run = op_function(program.ops[i].code);
      (this->*run)(program.ops[i]);
    }
    each_state([&](uint32_t v, const int8_t*) { std::swap(values_[v], stored_[v]); });
    ++position_;
  }
  const auto narrow = [](int32_t x) { return static_cast<int8_t>(x); };
  each_state([&](uint32_t v, int8_t* place) { std::transform(values_[v].begin(), values_[v].end(), place, narrow); });

  if (logits != nullptr) {
    const Values& last = in(program.ops[program.op_count - 1], 0);
    std::transform(last.begin(), last.end(), logits, narrow);
  }
  return loss_;
}

// Null if this member sees the parameter without noise.
const Noise* Member::noise_of(int32_t param) const {
  if (perturbation_ == nullptr) return nullptr;
  const Noise& noise = perturbation_->noise[static_cast<size_t>(param)];
  return noise.b.empty() ? nullptr : &noise;
}

// Element i of a gain or bias as this member sees it; 0 where the op has none.
int32_t Member::vector_element(int32_t param, size_t i) const {
  if (param < 0) return 0;
  const int32_t weight = model_.weights[static_cast<size_t>(param)][i];
  const Noise* noise = noise_of(param);
  if (noise == nullptr) return weight;
  const int32_t shift = model_.lowered.vector_shift();
  return egg_perturbed(weight, noise->a[i] * noise->b[i], sign_, shift, nearest_);
}

void Member::embed(const egg_op& op) {
  const size_t width = size(op);
  const uint32_t row = op.attr == 0 ? token_ : rows_[op.attr - 1];
  const bool reads = row != EGG_NO_ROW;
  const Noise* noise = reads ? noise_of(op.param[0]) : nullptr;
  const int8_t* weights = model_.weights[static_cast<size_t>(op.param[0])].data() + (reads ? row * width : 0);
  const auto param = static_cast<uint32_t>(op.param[0]);
  std::vector<int32_t> a(noise == nullptr ? 0 : model_.lowered.params[param].ranks);
  for (size_t r = 0; r < a.size(); ++r) {
    a[r] =
        model_.source.value(perturbation_->step, perturbation_->pair, param, EGG_SIDE_A, static_cast<uint32_t>(r), row);
  }
  const int32_t shift = model_.lowered.params[param].shift;
  for (size_t d = 0; d < width; ++d) {
    int32_t sum = op.in[0] >= 0 ? in(op, 0)[d] : 0;
    int32_t ab = 0;
    for (size_t r = 0; r < a.size(); ++r) ab += a[r] * noise->b[r * width + d];
    if (reads) sum += weights[d] + sign_ * egg_rshift(ab, shift, nearest_);
    put(op, d, sum);
  }
}

void Member::linear(const egg_op& op) {
  const Values& x = in(op, 0);
  const Noise* noise = noise_of(op.param[0]);
  const int8_t* weights = model_.weights[static_cast<size_t>(op.param[0])].data();
  const auto dot = [&](const int8_t* b) {
    int32_t sum = 0;  // the host has proved that it fits
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] * b[i];
    return sum;
  };

  std::vector<int32_t> q(static_cast<size_t>(noise == nullptr ? 0 : model_.lowered.noise.rank));
  const int32_t q_shift = model_.lowered.q_shift();
  for (size_t r = 0; r < q.size(); ++r) {
    q[r] = egg_linear_q(dot(noise->b.data() + r * x.size()), q_shift, nearest_);
  }
  const size_t outputs = size(op);
  for (size_t o = 0; o < outputs; ++o) {
    int32_t perturbation = 0;
    for (size_t r = 0; r < q.size(); ++r) perturbation += q[r] * noise->a[r * outputs + o];
    const int32_t product = egg_linear_out(dot(weights + o * x.size()), sign_ * perturbation, op.attr, nearest_);
    put(op, o, product + vector_element(op.param[1], o));
  }
}

void Member::l1_norm(const egg_op& op) {
  const Values& x = in(op, 0);
  int32_t sum_abs = 0;
  for (const int32_t value : x) sum_abs += std::abs(value);
  const int32_t mean = egg_l1_mean(sum_abs, static_cast<int32_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const int32_t xg = x[i] * vector_element(op.param[0], i);
    put(op, i, egg_l1_norm(xg, mean, vector_element(op.param[1], i), op.attr, nearest_));
  }
}

void Member::add(const egg_op& op) {
  const Values& a = in(op, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    const int32_t b = op.in[1] >= 0 ? in(op, 1)[i] : 0;
    put(op, i, a[i] + b + vector_element(op.param[1], i));
  }
}

void Member::gru_gate(const egg_op& op) {
  for (size_t i = 0; i < size(op); ++i) put(op, i, egg_gru_gate(in(op, 0)[i], in(op, 1)[i]));
}

void Member::gru_mix(const egg_op& op) {
  for (size_t i = 0; i < size(op); ++i) put(op, i, egg_gru_mix(in(op, 0)[i], in(op, 1)[i], in(op, 2)[i]));
}

void Member::lut(const egg_op& op) {
  for (size_t i = 0; i < size(op); ++i) put(op, i, table(op)[in(op, 0)[i] + 128]);
}

void Member::max_norm(const egg_op& op) {
  int32_t largest = 0;
  for (const int32_t x : in(op, 0)) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < size(op); ++i) put(op, i, egg_max_norm(in(op, 0)[i], largest));
}

void Member::rope(const egg_op& op) {
  const Values& x = in(op, 0);
  const auto head = static_cast<size_t>(op.head);
  const int32_t* angles = table(op) + position_ * head;
  for (size_t i = 0; i < x.size(); i += 2) {
    const int32_t c = angles[i % head];
    const int32_t d = angles[i % head + 1];
    put(op, i, egg_rotate(x[i], c, x[i + 1], -d));
    put(op, i + 1, egg_rotate(x[i], d, x[i + 1], c));
  }
}

void Member::attention(const egg_op& op) {
  Cache& cache = caches_[static_cast<size_t>(op.out)];
  cache.keys.push_back(in(op, 1));
  cache.values.push_back(in(op, 2));
  for (size_t first = 0; first < size(op); first += static_cast<size_t>(op.head)) attend(op, first);
}

// Computes one head: channels [first, first + head).
void Member::attend(const egg_op& op, size_t first) {
  const Cache& cache = caches_[static_cast<size_t>(op.out)];
  const size_t end = first + static_cast<size_t>(op.head);
  std::vector<int32_t> scores;
  for (size_t j = first_visible_; j <= position_; ++j) {
    int32_t product = 0;
    for (size_t i = first; i < end; ++i) product += in(op, 0)[i] * cache.keys[j][i];
    scores.push_back(egg_rshift(product, op.attr, nearest_));
  }
  const int32_t largest = *std::max_element(scores.begin(), scores.end());
  std::vector<int64_t> weights;
  for (const int32_t score : scores) weights.push_back(table(op)[egg_attention_index(score, largest, op.mode)]);
  const int64_t total = std::accumulate(weights.begin(), weights.end(), int64_t{0});
  for (size_t i = first; i < end; ++i) {
    int64_t sum = 0;
    for (size_t j = 0; j < weights.size(); ++j) sum += weights[j] * cache.values[first_visible_ + j][i];
    put(op, i, egg_divide(sum, std::max<int64_t>(1, total), nearest_));
  }
}

void Member::store(const egg_op& op) { stored_[static_cast<size_t>(op.out)] = in(op, 0); }

void Member::loss(const egg_op& op) {
  if (target_ == EGG_NO_TARGET) return;
  const Values& logits = in(op, 0);
  const int32_t largest = *std::max_element(logits.begin(), logits.end());
  uint64_t sum = 0;
  for (const int32_t logit : logits) sum += model_.loss_tables.exp2_q30[largest - logit];
  loss_ += egg_loss_q16(sum, largest, logits[target_], op.attr, model_.loss_tables.log2_q24);
}

// Leave an op out, by returning null for its code here, and a run that needs it is refused before it starts.
OpFunction op_function(int32_t code) {
#define FUNCTION_OF(code, name, ...) &Member::name,
  static constexpr OpFunction kAll[EGG_OP_COUNT] = {EGG_OPS(FUNCTION_OF)};
#undef FUNCTION_OF
  return kAll[code];
}

}  // namespace backend
