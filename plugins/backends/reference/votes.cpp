// Votes, Z = sum over pairs and ranks of f*A*B', and the rule that turns them into weight changes.
#include <algorithm>
#include <numeric>

#include "eggroll/rule_arithmetic.h"
#include "session.h"

namespace eggroll::reference {
namespace {

// An int32 holds the sum of 1024 products, whatever the fitness and the noise: 127 * 127 * 127 * 1024 < 2^31.
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

bool ReferenceSession::move(uint32_t param, size_t index, int64_t vote, float vote_std, const float* scalars,
                            std::vector<uint32_t>& nodes) {
  int16_t& weight = model_.weights[param][index];
  uint32_t* slots = slots_[param].data() + index * rule_->slot_count;
  const int32_t delta = run_rule(*rule_, RuleInputs{vote, vote_std, weight, scalars}, slots, nodes);
  const int32_t moved = egg_moved(weight, delta);
  const bool changed = moved != weight;
  weight = static_cast<int16_t>(moved);
  return changed;
}

int64_t ReferenceSession::update_all_rows(uint32_t param, const egg_update& u) {
  const LoweredParam& p = model_.params[param];
  const egg_voters& voters = p.voters;
  const size_t rows = p.rows;
  const size_t cols = p.cols;
  const size_t ranks = p.ranks;
  const size_t draws = voters.pairs * ranks;  // the dimension that the votes sum over
  const size_t b_size = p.b_count;

  // Transposed, so that each vote is one sum over neighbours in memory: fa is (rows, draws), b is (b_size, draws).
  std::vector<int16_t> fa(rows * draws);
  std::vector<int16_t> b(b_size * draws);
  threads_.split(voters.pairs, [&](size_t begin, size_t end) {
    std::vector<int8_t> line(std::max(rows, b_size));
    for (size_t voter = begin; voter < end; ++voter) {
      const auto pair = static_cast<uint32_t>(voters.first_pair + voter);
      for (size_t r = 0; r < ranks; ++r) {
        const size_t draw = voter * ranks + r;
        const auto rank = static_cast<uint32_t>(r);
        noise_.fill(u.step, pair, param, EGG_SIDE_A, rank, line.data(), static_cast<uint32_t>(rows));
        for (size_t i = 0; i < rows; ++i) fa[i * draws + draw] = static_cast<int16_t>(line[i] * u.fitness[pair]);
        noise_.fill(u.step, pair, param, EGG_SIDE_B, rank, line.data(), static_cast<uint32_t>(b_size));
        for (size_t j = 0; j < b_size; ++j) b[j * draws + draw] = line[j];
      }
    }
  });

  std::vector<int64_t> changed(rows);
  threads_.split(rows, [&](size_t begin, size_t end) {
    std::vector<uint32_t> nodes(rule_->node_count);
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = 0; j < cols; ++j) {
        const int64_t vote = dot(fa.data() + i * draws, b.data() + (p.vector ? i : j) * draws, draws);
        changed[i] += move(param, i * cols + j, vote, u.vote_stds[param], u.scalars, nodes) ? 1 : 0;
      }
    }
  });
  return std::accumulate(changed.begin(), changed.end(), int64_t{0});
}

int64_t ReferenceSession::update_masked_rows(uint32_t param, const egg_update& u) {
  const LoweredParam& p = model_.params[param];
  const uint32_t cols = p.cols;
  RowVoters voters;
  voters.find(spec_, param, u);
  std::vector<int64_t> changed(voters.size());
  threads_.split(voters.size(), [&](size_t begin, size_t end) {
    std::vector<uint32_t> nodes(rule_->node_count);
    std::vector<int8_t> b(cols);
    for (size_t i = begin; i < end; ++i) {
      const RowVoters::Row& row = voters.rows()[i];
      std::vector<int64_t> votes(cols);
      for (size_t k = row.first_voters; k < voters.rows()[i + 1].first_voters; ++k) {
        for (uint32_t pair = voters.voters()[k].begin; pair < voters.voters()[k].end; ++pair) {
          for (uint32_t r = 0; r < p.ranks; ++r) {
            const int32_t fa = u.fitness[pair] * noise_.value(u.step, pair, param, EGG_SIDE_A, r, row.row);
            noise_.fill(u.step, pair, param, EGG_SIDE_B, r, b.data(), cols);
            for (uint32_t j = 0; j < cols; ++j) votes[j] += fa * b[j];
          }
        }
      }
      for (uint32_t j = 0; j < cols; ++j) {
        changed[i] += move(param, size_t{row.row} * cols + j, votes[j], row.vote_std, u.scalars, nodes) ? 1 : 0;
      }
    }
  });
  return std::accumulate(changed.begin(), changed.end(), int64_t{0});
}

int64_t ReferenceSession::update_param(uint32_t param, const egg_update& u) {
  if (model_.params[param].voters.site != 0) return update_by_site(param, u);
  return model_.params[param].masked ? update_masked_rows(param, u) : update_all_rows(param, u);
}

void ReferenceSession::update(const egg_update& arguments) {
  for (uint32_t i = 0; i < model_.program->param_count; ++i) {
    const bool moves = model_.params[i].perturbed && is_chosen(arguments, i);
    arguments.changed[i] = moves ? update_param(i, arguments) : 0;
  }
  for (SiteErrors& site : sites_) site.others.clear();
}

}  // namespace eggroll::reference
