#include "monitor/report.h"

#include <cmath>

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// Four decimals; no negative zero.
double short_real(double x) { return std::round(x * 1e4) / 1e4 + 0.0; }

ordered_json to_json(const ValueReport& value) {
  return {{"op", value.op},
          {"mean", short_real(value.spread.mean)},
          {"std", short_real(value.spread.std)},
          {"entropy_bits", short_real(value.spread.entropy_bits)},
          {"saturated", short_real(value.spread.saturated)},
          {"zeros", short_real(value.spread.zeros)},
          {"constant", short_real(value.constant)}};
}

ordered_json to_json(const HeadReport& head) {
  return {{"entropy_bits", short_real(head.spread.entropy_bits)}, {"largest", short_real(head.spread.largest)}};
}

ordered_json to_json(const TensorReport& tensor) {
  ordered_json json = {
      {"std", short_real(tensor.spread.std)}, {"saturated", short_real(tensor.spread.saturated)},
      {"moved", short_real(tensor.moved)},    {"moved_since_start", short_real(tensor.moved_since_start)},
      {"votes_over_null", nullptr},           {"vote_deviations", nullptr}};
  if (tensor.votes) {
    json["votes_over_null"] = short_real(tensor.votes->over_null);
    json["vote_deviations"] = short_real(tensor.votes->deviations);
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
  return {
      {"verdicts", report.verdicts},
      {"values", values},
      {"heads", heads},
      {"vote_steps", report.vote_steps},
      {"vote_deviations", report.vote_deviations ? ordered_json(short_real(*report.vote_deviations)) : ordered_json()},
      {"tensors", tensors}};
}

}  // namespace eggroll
