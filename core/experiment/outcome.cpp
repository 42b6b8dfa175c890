#include "experiment/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "config/hash.h"
#include "eggroll/error.h"
#include "record/json.h"
#include "record/metric_keys.h"
#include "system/files.h"
#include "train/identity.h"
#include "train/run.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kLogLines = 20;
constexpr size_t kTailBytes = 1 << 16;
constexpr std::string_view kOwnWords = "eggroll: ";

// Whole lines of the file's last bytes; none if the file cannot be read.
std::vector<std::string> last_lines(const fs::path& path) try {
  std::istringstream text(read_end(path, kTailBytes));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
} catch (const Error&) {
  return {};
}

std::vector<std::string> end_of_log(const fs::path& log) {
  std::vector<std::string> lines = last_lines(log);
  if (lines.size() > kLogLines) lines.erase(lines.begin(), lines.end() - kLogLines);
  return lines;
}

RunRecord known_of(const Sweep& sweep, const SweepPoint& point) {
  const RunFolder folder = sweep.folder_of(point);
  if (is_there(folder.record())) return read_record(folder.record());
  RunRecord record;
  record.name = sweep.name;
  record.started_utc = utc_now();
  record.config_hash = hash_in(folder, point.config);
  record.config = to_json(point.config);
  record.overrides = point.overrides;
  record.environment = capture_environment();
  record.seed = point.seed;
  record.sweep = sweep.record_of(point);
  return record;
}

std::string sentence_of(Failure::Kind kind, const std::string& detail, uint64_t step,
                        const std::vector<std::string>& log) {
  if (kind == Failure::Kind::kTime || kind == Failure::Kind::kMemory) {
    return fmt::format("the process took {} after step {} and was killed; raise sweep.limits or leave the point out",
                       detail, step);
  }
  if (kind == Failure::Kind::kSignal) {
    return fmt::format("the process was ended by {} after step {}{}; the end of its output is in the record", detail,
                       step, detail == "SIGKILL" ? ", as happens when the system runs out of memory" : "");
  }
  for (auto line = log.rbegin(); line != log.rend(); ++line) {
    if (line->starts_with(kOwnWords)) return line->substr(kOwnWords.size());
  }
  return fmt::format("the process ended with {} and gave no reason; the end of its output is in the record", detail);
}

}  // namespace

PointStanding standing_of(const Sweep& sweep, const SweepPoint& point) {
  const RunFolder folder = sweep.folder_of(point);
  PointStanding standing;
  if (!is_there(folder.record())) return standing;
  standing.record = read_record(folder.record());
  if (standing.record->status == RunStatus::kFailed) {
    standing.state = PointState::kFailed;
  } else if (has_ended(*standing.record, point.config)) {
    require_same_ops(*standing.record, folder.path);
    standing.state = PointState::kDone;
  }
  return standing;
}

LastMetrics last_metrics(const fs::path& metrics) {
  LastMetrics last;
  for (const std::string& text : last_lines(metrics)) {
    const ordered_json line = json_or_null(text);
    if (!line.is_object()) continue;  // the line that is being written
    const auto is_whole = [&](const char* key) { return line.contains(key) && line[key].is_number_unsigned(); };
    const bool has_bits = line.contains(kHeldOutKeys.bits) && line[kHeldOutKeys.bits].is_number();
    if (is_whole(metric::kStep)) last.step = whole(line[metric::kStep]);
    if (is_whole(metric::kMemberTokens)) last.member_tokens = whole(line[metric::kMemberTokens]);
    if (has_bits) last.held_out_bits = line[kHeldOutKeys.bits].get<double>();
  }
  return last;
}

RunRecord record_death(const Sweep& sweep, const SweepPoint& point, Failure::Kind kind, const std::string& detail) {
  const RunFolder folder = sweep.folder_of(point);
  RunRecord record = known_of(sweep, point);
  if (kind == Failure::Kind::kExit && record.status == RunStatus::kFailed) return record;
  const LastMetrics last = last_metrics(folder.metrics());
  Failure failure{kind, detail, end_of_log(folder.log())};
  record.status = RunStatus::kFailed;
  record.error = sentence_of(kind, detail, last.step, failure.log);
  record.failure = std::move(failure);
  record.stopped_because.reset();
  record.ended_utc = utc_now();
  record.steps = last.step;
  record.member_tokens = last.member_tokens;
  record.summary = summarize_metrics(folder.metrics());
  write_record(folder.record(), record);
  return record;
}

std::vector<std::string> said_by_last_process(const RunFolder& folder) {
  std::vector<std::string> said;
  for (const std::string& line : last_lines(folder.log())) {
    if (line.starts_with(kProcessBegins)) said.clear();
    if (line.starts_with(kOwnWords)) said.push_back(line.substr(kOwnWords.size()));
  }
  return said;
}

}  // namespace eggroll
