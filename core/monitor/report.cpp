#include "monitor/report.h"

#include <cmath>

#include "record/metric_keys.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// Four decimals; no negative zero.
double short_real(double x) { return std::round(x * 1e4) / 1e4 + 0.0; }

ordered_json to_json(const ValueReport& value) {
  return {{monitor_metric::kOp, value.op},
          {monitor_metric::kMean, short_real(value.spread.mean)},
          {monitor_metric::kStd, short_real(value.spread.std)},
          {monitor_metric::kEntropyBits, short_real(value.spread.entropy_bits)},
          {monitor_metric::kSaturated, short_real(value.spread.saturated)},
          {monitor_metric::kZeros, short_real(value.spread.zeros)},
          {monitor_metric::kConstant, short_real(value.constant)}};
}

ordered_json to_json(const HeadReport& head) {
  return {{monitor_metric::kEntropyBits, short_real(head.spread.entropy_bits)},
          {monitor_metric::kLargest, short_real(head.spread.largest)}};
}

ordered_json to_json(const TensorReport& tensor) {
  ordered_json json = {{monitor_metric::kStd, short_real(tensor.spread.std)},
                       {monitor_metric::kSaturated, short_real(tensor.spread.saturated)},
                       {monitor_metric::kMoved, short_real(tensor.moved)},
                       {monitor_metric::kMovedSinceStart, short_real(tensor.moved_since_start)},
                       {monitor_metric::kVotesOverNull, nullptr},
                       {monitor_metric::kVoteDeviations, nullptr}};
  if (tensor.votes) {
    json[monitor_metric::kVotesOverNull] = short_real(tensor.votes->over_null);
    json[monitor_metric::kVoteDeviations] = short_real(tensor.votes->deviations);
  }
  return json;
}

}  // namespace

ordered_json to_json(const MonitorReport& report) {
  ordered_json values = ordered_json::object();
  for (const ValueReport& value : report.values) values[value.name] = to_json(value);
  ordered_json heads = ordered_json::object();
  for (const HeadReport& head : report.heads) heads[head.name].push_back(to_json(head));
  ordered_json tensors = ordered_json::object();
  for (const TensorReport& tensor : report.tensors) tensors[tensor.name] = to_json(tensor);
  return {{monitor_metric::kVerdicts, report.verdicts},
          {monitor_metric::kValues, values},
          {monitor_metric::kHeads, heads},
          {monitor_metric::kVoteSteps, report.vote_steps},
          {monitor_metric::kVoteDeviations,
           report.vote_deviations ? ordered_json(short_real(*report.vote_deviations)) : ordered_json()},
          {monitor_metric::kTensors, tensors}};
}

}  // namespace eggroll
