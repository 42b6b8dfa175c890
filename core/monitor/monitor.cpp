#include "monitor/monitor.h"

#include "monitor/verdicts.h"
#include "program/initial_weights.h"
#include "program/op_info.h"

namespace eggroll {
namespace {

double share(int64_t part, size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

Monitor::Monitor(const MonitoredRun& run, const Dataset& dataset)
    : program_(run.program), probe_(run.backend, run.program, run.noise, run.threads, dataset), votes_(run) {
  for (uint32_t i = 0; i < program_.params().size(); ++i) {
    first_weights_.push_back(initial_weights(program_.params()[i], i, run.noise.seed));
  }
}

void Monitor::look_at_values(const ModelWeights& weights, MonitorReport& report) {
  const std::vector<std::vector<int8_t>> values = probe_.values(weights);
  for (const egg_op& op : program_.ops()) {
    if (op.out < 0 || program_.values()[static_cast<size_t>(op.out)].is_wide != 0) continue;
    const egg_value& value = program_.values()[static_cast<size_t>(op.out)];
    const std::vector<int8_t>& seen = values[static_cast<size_t>(op.out)];
    report.values.push_back({value.name, signature_of(op.code).name, op.out, spread_of(seen),
                             constant_share(seen, static_cast<size_t>(value.size))});
    if (op.code != EGG_OP_ATTENTION) continue;
    const std::vector<HeadSpread> heads = heads_of(program_.view(), op, values[static_cast<size_t>(op.in[0])],
                                                   values[static_cast<size_t>(op.in[1])], probe_.first_visible());
    for (size_t h = 0; h < heads.size(); ++h) report.heads.push_back({value.name, h, heads[h]});
  }
}

MonitorReport Monitor::look(BackendSession& session, uint64_t steps_done, const std::vector<int64_t>& changed,
                            std::optional<double> cost_of_noise) {
  ModelWeights weights = first_weights_;
  for (uint32_t i = 0; i < weights.size(); ++i) session.get_weights(i, weights[i].data());
  MonitorReport report;
  report.step = steps_done;
  report.vote_steps = votes_.steps();
  look_at_values(weights, report);
  const VoteSignals votes = votes_.measure();
  report.vote_deviations = votes.deviations;
  report.pairs_without_fitness = votes.pairs_without_fitness;
  report.cost_of_noise = cost_of_noise;
  for (size_t i = 0; i < weights.size(); ++i) {
    const egg_param& param = program_.params()[i];
    int64_t moved = 0;
    for (size_t w = 0; w < weights[i].size(); ++w) moved += weights[i][w] != first_weights_[i][w] ? 1 : 0;
    report.tensors.push_back({param.name, param.perturbed != 0, spread_of(weights[i]),
                              share(changed[i], weights[i].size()), share(moved, weights[i].size()), votes.tensors[i]});
  }
  report.verdicts = verdicts_of(program_, report);
  return report;
}

}  // namespace eggroll
