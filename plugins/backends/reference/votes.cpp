// Votes, Z = sum over pairs and ranks of f*A*B', and the rule that turns them into weight changes.
#include <algorithm>

#include "session.h"

namespace eggroll::reference {
namespace {

// 127 * 127 * 127 * 1024 < 2^31: as many products as an int32 holds whatever the fitness and the noise.
constexpr size_t kBlock = 1024;

int64_t dot(const int16_t* a, const int16_t* b, size_t count) {
  int64_t total = 0;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = std::min(count, begin + kBlock);
    int32_t sum = 0;
    for (size_t i = begin; i < end; ++i) sum += static_cast<int32_t>(a[i]) * static_cast<int32_t>(b[i]);
    total += sum;
  }
  return total;
}

}  // namespace

int64_t ReferenceSession::update_param(uint32_t param, const egg_update& u) {
  const egg_param& p = model_.program->params[param];
  const bool vector = p.kind == EGG_PARAM_VECTOR;
  const auto rows = static_cast<size_t>(p.rows);
  const auto cols = static_cast<size_t>(p.cols);
  const auto ranks = static_cast<size_t>(vector ? 1 : model_.noise.rank);
  const size_t draws = u.pairs * ranks;  // the dimension that the votes sum over
  const size_t b_size = vector ? rows : cols;

  // Transposed, so that each vote is one sum over neighbours in memory: fa is (rows, draws), b is (b_size, draws).
  std::vector<int16_t> fa(rows * draws);
  std::vector<int16_t> b(b_size * draws);
  threads_.split(u.pairs, [&](size_t begin, size_t end) {
    std::vector<int8_t> line(std::max(rows, b_size));
    for (size_t pair = begin; pair < end; ++pair) {
      for (size_t r = 0; r < ranks; ++r) {
        const size_t draw = pair * ranks + r;
        const auto id = static_cast<uint32_t>(pair);
        const auto rank = static_cast<uint32_t>(r);
        noise_.fill(u.step, id, param, EGG_SIDE_A, rank, line.data(), static_cast<uint32_t>(rows));
        for (size_t i = 0; i < rows; ++i) fa[i * draws + draw] = static_cast<int16_t>(line[i] * u.fitness[pair]);
        noise_.fill(u.step, id, param, EGG_SIDE_B, rank, line.data(), static_cast<uint32_t>(b_size));
        for (size_t j = 0; j < b_size; ++j) b[j * draws + draw] = line[j];
      }
    }
  });

  std::vector<int64_t> changed(rows);
  threads_.split(rows, [&](size_t begin, size_t end) {
    std::vector<Cell> nodes(rule_->node_count);
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = 0; j < cols; ++j) {
        int16_t& weight = model_.weights[param][i * cols + j];
        const int64_t vote = dot(fa.data() + i * draws, b.data() + (vector ? i : j) * draws, draws);
        Cell* slots = slots_[param].data() + (i * cols + j) * rule_->slot_count;
        const int32_t delta = run_rule(*rule_, RuleInputs{vote, u.vote_stds[param], weight, u.scalars}, slots, nodes);
        const int64_t moved = std::clamp<int64_t>(int64_t{weight} + delta, -127, 127);
        changed[i] += moved != weight ? 1 : 0;
        weight = static_cast<int16_t>(moved);
      }
    }
  });
  int64_t total = 0;
  for (const int64_t count : changed) total += count;
  return total;
}

void ReferenceSession::update(const egg_update& arguments) {
  for (uint32_t i = 0; i < model_.program->param_count; ++i) {
    const bool moves = model_.program->params[i].perturbed != 0 && is_chosen(arguments, i);
    arguments.changed[i] = moves ? update_param(i, arguments) : 0;
  }
}

}  // namespace eggroll::reference
