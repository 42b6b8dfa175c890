#include "train/catch_up.h"

#include <fmt/format.h>

#include <algorithm>

#include "eggroll/error.h"
#include "record/json.h"
#include "record/metrics.h"

namespace eggroll {
namespace {

using Warn = std::function<void(const std::string&)>;

void require_same_evaluation(const RunFolder& folder, const JournalEntry& entry,
                             std::span<const egg_evaluation> evaluations) {
  const auto found = std::find_if(evaluations.begin(), evaluations.end(),
                                  [&](const egg_evaluation& known) { return known.step == entry.step; });
  const bool is_known = found != evaluations.end();
  const bool are_equal =
      is_known == entry.evaluation.has_value() &&
      (!is_known || (found->loss == entry.evaluation->loss && found->tokens == entry.evaluation->tokens));
  if (are_equal) return;
  throw Error(fmt::format(
      "{} and the newest checkpoint disagree on the evaluation after {} steps, so that one of them is damaged; restore "
      "the journal from a copy, or delete that checkpoint and run again to go on from the one before it",
      folder.journal().string(), entry.step));
}

// Entries from step `first` on.
std::vector<JournalEntry> read_journal(const RunFolder& folder, const std::string& config_hash,
                                       std::span<const egg_evaluation> evaluations, uint64_t first, uint64_t origin,
                                       const Warn& warn) {
  std::vector<JournalEntry> entries;
  std::optional<JournalReader> journal;
  try {
    journal.emplace(folder.journal(), origin);
  } catch (const Error&) {
    return entries;  // JournalWriter, which opens the file later, throws or begins a new one
  }
  if (journal->config_hash() != config_hash) return entries;
  uint64_t next = origin;
  const auto next_entry = [&](JournalEntry& entry) {
    try {
      return journal->next(entry);
    } catch (const Error& error) {
      warn(fmt::format("{} (the run goes on; {})", error.what(),
                       next < first ? "eggroll replay cannot rebuild it" : "the steps from there on are done again"));
      return false;
    }
  };
  for (JournalEntry entry; next_entry(entry); ++next) {
    if (entry.step < first) {
      require_same_evaluation(folder, entry, evaluations);
    } else {
      entries.push_back(entry);
    }
  }
  return entries;
}

}  // namespace

KnownSteps steps_known(const RunFolder& folder, const std::string& config_hash,
                       std::span<const egg_evaluation> evaluations, uint64_t first, uint64_t last, uint64_t origin,
                       const std::string& unit, const Warn& warn) {
  KnownSteps known;
  known.entries = read_journal(folder, config_hash, evaluations, first, origin, warn);
  const std::vector<JournalEntry>& entries = known.entries;
  uint64_t reached = first;
  std::optional<uint64_t> newest;
  const auto learn = [&](const nlohmann::ordered_json& line) {
    const uint64_t step = whole(line.at(metric::kStep));
    newest = step;
    if (step <= reached || step > first + entries.size() || step >= last) return;
    StepRecord record = step_record_from_json(line, unit);
    // The exact loss of an evaluation is in the next entry.
    if (record.held_out && step == first + entries.size()) return;
    reached = step;
    known.evaluation = record.held_out ? entries[step - first].evaluation : std::nullopt;
    known.last = std::move(record);
  };
  try {
    read_members(folder.metrics().string(), kMetricsCure, [&] { read_metrics(folder.metrics(), learn); });
  } catch (const Error& error) {
    // MetricsFile refuses damage before the checkpoint.
    if (newest && *newest >= first) {
      warn(fmt::format("{} (the run goes on; the steps from there on are done again)", error.what()));
    }
  }
  known.entries.resize(reached - first);
  return known;
}

}  // namespace eggroll
