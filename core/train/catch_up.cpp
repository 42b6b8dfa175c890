#include "train/catch_up.h"

#include "eggroll/error.h"
#include "record/metrics.h"

namespace eggroll {
namespace {

std::vector<JournalEntry> entries_from(const RunFolder& folder, const std::string& config_hash, uint64_t first) {
  JournalReader journal(folder.journal());
  std::vector<JournalEntry> entries;
  if (journal.config_hash() != config_hash) return entries;
  JournalEntry entry;
  while (journal.next(entry)) {
    if (entry.step >= first) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

KnownSteps steps_known(const RunFolder& folder, const std::string& config_hash, uint64_t first, uint64_t last) try {
  KnownSteps known;
  known.entries = entries_from(folder, config_hash, first);
  const std::vector<JournalEntry>& entries = known.entries;
  uint64_t reached = first;
  for (const nlohmann::ordered_json& line : read_metrics(folder.metrics())) {
    const uint64_t step = line.at("step").get<uint64_t>();
    if (step <= reached || step > first + entries.size() || step >= last) continue;
    // The exact loss of an evaluation is in the entry behind it.
    const bool evaluated = line.contains("held_out_bits_per_unit");
    if (evaluated && step == first + entries.size()) continue;
    reached = step;
    known.evaluation = evaluated ? entries[step - first].evaluation : std::nullopt;
    known.member_tokens = line.at("member_tokens").get<uint64_t>();
    known.unique_tokens = line.at("unique_tokens").get<uint64_t>();
  }
  known.entries.resize(reached - first);
  return known;
} catch (const Error&) {
  return {};  // damaged behind the checkpoint, it may be; before, its writer says so
}

}  // namespace eggroll
