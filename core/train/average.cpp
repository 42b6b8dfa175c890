#include "train/average.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eggroll/error.h"
#include "program/average.h"
#include "train/session_io.h"

namespace eggroll {
namespace {

void require_differences(const std::vector<float>& differences, const egg_param& param, const Learner& learner) {
  const auto found = std::find_if_not(differences.begin(), differences.end(),
                                      [](float difference) { return std::abs(difference) <= 254.0F; });
  if (found == differences.end()) return;
  throw Error(
      fmt::format("{} holds {} at position {} of the average of tensor '{}', expected a difference of at most "
                  "254 from the weight; use another backend, or restore the checkpoint from a copy",
                  learner.backend->who(), *found, found - differences.begin(), param.name));
}

}  // namespace

std::vector<std::vector<int8_t>> swap_in_average(BackendSession& session, const Learner& learner) {
  const std::vector<egg_param>& params = learner.program->params();
  const auto slot = static_cast<uint32_t>(learner.rule->slots().size()) - 1;
  std::vector<std::vector<int8_t>> weights;
  std::vector<float> differences;
  std::vector<int8_t> average;
  for (uint32_t i = 0; i < params.size(); ++i) {
    std::vector<int8_t>& own = weights.emplace_back();
    if (params[i].perturbed == 0) continue;
    read_param(session, *learner.program, i, own);
    differences.resize(own.size());
    session.get_slot(i, slot, differences.data());
    require_differences(differences, params[i], learner);
    average.resize(own.size());
    std::transform(own.begin(), own.end(), differences.begin(), average.begin(), averaged_weight);
    session.set_weights(i, average.data());
  }
  return weights;
}

void put_weights(BackendSession& session, const std::vector<std::vector<int8_t>>& weights) {
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].empty()) session.set_weights(i, weights[i].data());
  }
}

}  // namespace eggroll
