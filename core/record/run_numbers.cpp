#include "record/run_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "eggroll/error.h"
#include "record/json.h"
#include "record/metric_keys.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

using Number = std::optional<double>;

template <class T>
Number as_number(const std::optional<T>& value) {
  return value ? Number(static_cast<double>(*value)) : std::nullopt;
}
Number as_number(uint64_t value) { return static_cast<double>(value); }
Number as_number(double value) { return value; }

Number bits_of(const std::optional<Evaluation>& evaluation) {
  return evaluation ? Number(evaluation->bits_per_unit) : std::nullopt;
}

template <auto Member>
Number recorded(const RunRecord& record, const RunMetrics&) {
  return as_number(record.*Member);
}

template <auto Member>
Number measured(const RunRecord&, const RunMetrics& metrics) {
  return as_number(metrics.*Member);
}

template <auto Member>
Number bits(const RunRecord& record, const RunMetrics&) {
  return bits_of(record.*Member);
}

template <auto Member>
Number average_bits(const RunRecord& record, const RunMetrics&) {
  return record.average ? bits_of((*record.average).*Member) : std::nullopt;
}

template <auto Member>
Number baseline(const RunRecord& record, const RunMetrics&) {
  return as_number(record.baselines.*Member);
}

template <auto Member>
Number step_seconds(const RunRecord&, const RunMetrics& metrics) {
  return metrics.step_seconds ? Number((*metrics.step_seconds).*Member) : std::nullopt;
}

template <auto Phase>
Number update_rate(const RunRecord& record, const RunMetrics& metrics) {
  const std::optional<Phases> rate = update_rate_of(record, metrics);
  return rate ? Number((*rate).*Phase) : std::nullopt;
}

template <auto Phase>
Number threshold(const RunRecord&, const RunMetrics& metrics) {
  return metrics.threshold ? Number((*metrics.threshold).*Phase) : std::nullopt;
}

Number kneser_ney(const RunRecord& record, const RunMetrics&) {
  const auto best = record.baselines.best_kneser_ney();
  return best ? Number(best->second) : std::nullopt;
}

Number kneser_ney_bytes(const RunRecord& record, const RunMetrics&) {
  const auto best = record.baselines.best_kneser_ney();
  return best ? Number(best->first) : std::nullopt;
}

constexpr NumberUnit kBits = NumberUnit::kBits;
constexpr NumberUnit kCount = NumberUnit::kCount;
constexpr NumberUnit kShare = NumberUnit::kShare;
constexpr NumberUnit kSeconds = NumberUnit::kSeconds;
constexpr NumberUnit kBytes = NumberUnit::kBytes;
constexpr NumberUnit kDeviations = NumberUnit::kDeviations;

constexpr const char* kFinalHint = "the unperturbed model on all that is held out, after the last step";
constexpr const char* kBestHint =
    "the lowest of the learning curve, whose evaluations all read one sample of what is held out";
constexpr const char* kRateHint = "share that a step changes of the weights with votes, mean over the last quarter";

constexpr RunNumber added_with(const char* key, RunNumber number) {
  number.with = key;
  return number;
}

constexpr RunNumber kNumbers[] = {
    {"steps", "steps done", kCount, recorded<&RunRecord::steps>},
    {"member_tokens", "member tokens", kCount, recorded<&RunRecord::member_tokens>},
    {"bits", "final bits", kBits, bits<&RunRecord::final>, kFinalHint, "final_bits"},
    {"newest_bits", "newest bits", kBits, bits<&RunRecord::newest>},
    {"best", "best bits", kBits, bits<&RunRecord::best>, kBestHint, "best_bits"},
    {"unigram", "unigram", kBits, baseline<&BaselineRecord::unigram>},
    {"bigram", "bigram", kBits, baseline<&BaselineRecord::bigram>},
    {"gzip", "gzip", kBits, baseline<&BaselineRecord::gzip>},
    {"wall_seconds", "wall time", kSeconds, recorded<&RunRecord::wall_seconds>},
    {"step_seconds_p5", "step: 5 %", kSeconds, step_seconds<&Quantiles::p5>},
    {"step_seconds_median", "median step", kSeconds, step_seconds<&Quantiles::median>},
    {"step_seconds_p95", "step: 95 %", kSeconds, step_seconds<&Quantiles::p95>},
    {"forward_share", "forward passes", kShare, measured<&RunMetrics::forward_share>, "share of the steps' time"},
    {"tokens_per_second", "member tokens/s", NumberUnit::kPerSecond, measured<&RunMetrics::tokens_per_second>,
     "member tokens, of the median step"},
    {"update_rate_start", "update rate at the start", kShare, update_rate<&Phases::start>},
    {"update_rate_middle", "update rate half way", kShare, update_rate<&Phases::middle>},
    {"update_rate_end", "update rate at the end", kShare, update_rate<&Phases::end>},
    {"update_rate", "update rate", kShare, update_rate<&Phases::late>, kRateHint, "update_rate_late"},
    {"threshold_start", "threshold at the start", kDeviations, threshold<&Phases::start>},
    {"threshold_middle", "threshold half way", kDeviations, threshold<&Phases::middle>},
    {"threshold_end", "threshold at the end", kDeviations, threshold<&Phases::end>},
    {"threshold_late", "threshold", kDeviations, threshold<&Phases::late>, "mean over the last quarter"},
    {"memory_bytes", "memory", kBytes, recorded<&RunRecord::memory_bytes>},
    added_with("average_newest_bits", {"average_bits", "final bits of the average", kBits,
                                       average_bits<&AverageRecord::final>, "", "average_final_bits"}),
    added_with("average_newest_bits",
               {"average_newest_bits", "newest bits of the average", kBits, average_bits<&AverageRecord::newest>}),
    added_with("checkpoint_bytes", {"parameters", "weights", kCount, recorded<&RunRecord::parameters>}),
    added_with("checkpoint_bytes", {"checkpoint_bytes", "checkpoint", kBytes, recorded<&RunRecord::checkpoint_bytes>}),
    added_with("counting_seconds", {"xz", "xz", kBits, baseline<&BaselineRecord::xz>}),
    added_with("counting_seconds", {"ppmd", "PPMd", kBits, baseline<&BaselineRecord::ppmd>}),
    added_with("counting_seconds", {"kneser_ney", "Kneser-Ney", kBits, kneser_ney}),
    added_with("counting_seconds", {"kneser_ney_bytes", "context of Kneser-Ney", kBytes, kneser_ney_bytes}),
    added_with("counting_seconds", {"counting_seconds", "counting", kSeconds, recorded<&RunRecord::counting_seconds>,
                                    "processor time of Kneser-Ney"}),
};

constexpr const RunNumber* find(std::string_view key) {
  const auto* found = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                   [key](const RunNumber& number) { return number.key == key; });
  return found == std::end(kNumbers) ? nullptr : found;
}

// Does not compile if a key is not in the list.
template <class... Keys>
consteval std::array<const RunNumber*, sizeof...(Keys)> view_of(Keys... keys) {
  const std::array<const RunNumber*, sizeof...(Keys)> view = {find(keys)...};
  for (const RunNumber* number : view) {
    if (number == nullptr) throw "a view names a number that is not in the list";
  }
  return view;
}

constexpr auto kCompared =
    view_of("bits", "average_bits", "tokens_per_second", "update_rate", "wall_seconds", "steps", "memory_bytes");
constexpr auto kReported = view_of("bits", "average_bits", "tokens_per_second", "update_rate", "wall_seconds");
constexpr auto kDashboard = view_of("bits", "best", "tokens_per_second", "update_rate", "steps", "wall_seconds");
constexpr auto kListed = view_of("steps", "parameters", "checkpoint_bytes", "wall_seconds");

bool masks_votes(const RunRecord& record) {
  const nlohmann::ordered_json::json_pointer masked("/votes/masked");  // older records have no masks
  return record.config.contains(masked) && record.config.at(masked) == true;
}

}  // namespace

std::span<const RunNumber> run_numbers() { return kNumbers; }
NumberList compared_numbers() { return kCompared; }
NumberList reported_numbers() { return kReported; }
NumberList dashboard_numbers() { return kDashboard; }
NumberList listed_numbers() { return kListed; }

const RunNumber& run_number(std::string_view key) {
  const RunNumber* number = find(key);
  if (number == nullptr) throw Error(fmt::format("'{}' is no number of a run; report this as a bug", key));
  return *number;
}

std::string text_of(NumberUnit unit, double value) {
  switch (unit) {
    case NumberUnit::kCount:
      return fmt::format("{:.0f}", value);
    case NumberUnit::kPerSecond:
      return short_count(value);
    case NumberUnit::kShare:
      return percent(value);
    case NumberUnit::kSeconds:
      return seconds_text(value);
    case NumberUnit::kBytes:
      return bytes_text(value);
    case NumberUnit::kBits:
    case NumberUnit::kDeviations:
      break;
  }
  return text_of(value);
}

nlohmann::ordered_json json_of(NumberUnit unit, const std::optional<double>& value) {
  const bool is_whole = unit == NumberUnit::kCount || unit == NumberUnit::kBytes;
  return value && is_whole ? nlohmann::ordered_json(static_cast<uint64_t>(*value)) : or_null(value);
}

const char* name_of(NumberUnit unit) {
  constexpr std::array kNames = {"bits", "count", "per_second", "share", "seconds", "bytes", "deviations"};
  return kNames[static_cast<size_t>(unit)];
}

bool has_ended_well(const RunRecord& record) {
  return record.status == RunStatus::kCompleted || record.status == RunStatus::kStopped;
}

std::optional<Phases> update_rate_of(const RunRecord& record, const RunMetrics& metrics) {
  if (metrics.update_rate_of_voted) return metrics.update_rate_of_voted;
  return masks_votes(record) ? std::nullopt : metrics.update_rate;
}

std::optional<double> metric_of(const RunRecord& record, const RunMetrics& metrics, const std::string& metric) {
  if (!has_ended_well(record)) return std::nullopt;
  if (const RunNumber* number = find(metric)) return number->of(record, metrics);
  if (metric.starts_with(metric::kHookPrefix)) return metrics.hook_number(metric);
  const std::optional<double> of_scalar = metrics.late_mean_of_scalar(metric);
  return of_scalar ? of_scalar : metrics.late_mean(metric);
}

}  // namespace eggroll
