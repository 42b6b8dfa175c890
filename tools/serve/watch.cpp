#include "serve/watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "eggroll/error.h"
#include "record/json.h"
#include "record/metric_keys.h"
#include "record/metric_table.h"
#include "record/run_lock.h"
#include "record/seal.h"
#include "record/sentence.h"
#include "serve/summary.h"
#include "system/file_calls.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using std::chrono::steady_clock;

constexpr size_t kShownBytes = 64 * 1024;  // shown of a log's end and of samples
constexpr int kPauses = 10;                // a run's metrics are read in at most a tenth of the time

FileStamp stamp_of(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return {static_cast<uint64_t>(info.st_size), changed_ns(info), info.st_ino};
}

// The summary of a run whose record cannot be read; its numbers come from the metrics.
ordered_json summary_of_unreadable(const SeenRun& run) {
  ordered_json summary;
  add_numbers(summary, RunRecord(), run.metrics);
  summary.update({{"name", run.record_path.parent_path().filename().string()},
                  {"status", "unreadable"},
                  {"axes", ordered_json::object()},
                  {"baselines", ordered_json::object()},
                  {"wall_seconds", nullptr},
                  {"why", run.unreadable}});
  if (run.metrics.lines == 0) summary["steps"] = nullptr;
  return summary;
}

ordered_json summary_of(const std::string& folder, const SeenRun& run) {
  ordered_json summary = {{"folder", folder}};
  summary.update(run.unreadable.empty() ? eggroll::summary_of(run.says, run.metrics) : summary_of_unreadable(run));
  summary["curve"] = run.curve_version;
  summary["has_curve"] = !run.metrics.held_out.empty() || !run.metrics.training.empty();
  summary["problems"] = run.problems;
  if (!run.half_line.empty() && summary["status"] != "running") summary["problems"].push_back(run.half_line);
  // Last: until here the run counts as one at work, whose metrics are newer than its record.
  if (run.was_killed) {
    summary["status"] = status_name(RunStatus::kInterrupted);
    summary["why"] = kWhyKilled;
  }
  summary["written"] = std::max(run.record.changed_ns, run.metrics_file.changed_ns) / 1'000'000'000;
  return summary;
}

// The file's text, or the sentence of the error if it cannot be read; null if the file is missing or empty.
ordered_json text_or_null(const fs::path& path, std::string (*read)(const fs::path&)) try {
  if (stamp_of(path) == FileStamp()) return nullptr;
  const std::string text = read(path);
  return text.empty() ? ordered_json() : ordered_json(text);
} catch (const Error& error) {
  return error.what();
}

std::string beginning_of(const fs::path& path) { return read_part(path, 0, kShownBytes); }
std::string configuration_of(const fs::path& path) {
  const std::string text = beginning_of(path);
  const Seal seal = seal_of_text(text);
  const bool is_cut = text.size() >= kShownBytes;  // then its seal cannot be checked
  if (text.empty() || (seal == Seal::kBroken && !is_cut)) {
    return path.string() + " has changed since it was written; restore it from a copy";
  }
  if (seal != Seal::kAbsent) return text;
  return "# No checksum: this file was changed, or damaged, since it was written.\n" + text;
}
std::string end_of(const fs::path& path) { return read_end(path, kShownBytes); }

}  // namespace

// The files that one look sees on the disk.
struct Watch::Found {
  // By folder; a record that stands alone by its file. As shown() has them, for JSON and addresses hold no broken
  // UTF-8.
  std::map<std::string, fs::path> records;
  std::vector<CollectedSweep> sweeps;
  std::vector<std::string> problems;
  size_t other_files = 0;
};

Watch::Watch(const fs::path& results)
    : results_(results.lexically_normal()),
      started_(fmt::format("{:x}", std::chrono::system_clock::now().time_since_epoch().count())),
      around_({{"sweeps", ordered_json::array()}, {"problems", ordered_json::array()}, {"other_files", 0}}) {
  std::error_code failure;
  if (!fs::is_directory(results_, failure)) {
    throw Error(fmt::format("{} is no folder, expected one with runs in it at any depth; give results, for instance",
                            results_.string()));
  }
}

bool Watch::is_record(const fs::path& path, Found& found) {
  const FileStamp stamp = stamp_of(path);
  auto known = other_files_.find(path);
  if (known == other_files_.end() || known->second.stamp != stamp) {
    OtherFile file{stamp, std::nullopt};
    std::vector<std::string> none;
    try {
      if (read_collected_run(path, none)) {
        if (known != other_files_.end()) other_files_.erase(known);
        return true;
      }
    } catch (const Error& error) {
      file.problem = error.what();
    }
    known = other_files_.insert_or_assign(path, file).first;
  }
  if (known->second.problem) found.problems.push_back(*known->second.problem);
  if (!known->second.problem) ++found.other_files;
  return false;
}

Watch::Found Watch::find() {
  Found found;
  RecordFiles files = find_records({results_});
  found.problems = std::move(files.problems);
  for (const fs::path& path : files.records) {
    const bool in_folder = path.filename() == "record.json";
    const std::string key = folder_of(path);
    const auto before = seen(key);
    const bool unchanged = before && before->record_path == path && before->record == stamp_of(path);
    if (in_folder || unchanged || is_record(path, found)) found.records[key] = path;
  }
  if (!files.sweeps.empty()) {
    Collection sweeps = collect(files.sweeps);
    found.sweeps = std::move(sweeps.sweeps);
    found.problems.insert(found.problems.end(), sweeps.problems.begin(), sweeps.problems.end());
  }
  return found;
}

std::shared_ptr<const SeenRun> Watch::seen(const std::string& folder) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(folder);
  return found == runs_.end() ? nullptr : found->second;
}

void Watch::publish(const std::string& folder, SeenRun run) {
  const std::lock_guard lock(mutex_);
  run.version = ++version_;
  if (run.curve_version == 0) run.curve_version = version_;
  runs_[folder] = std::make_shared<const SeenRun>(std::move(run));
  removed_.erase(folder);
}

void Watch::forget_missing(const Found& found) {
  ordered_json sweeps = ordered_json::array();
  for (const CollectedSweep& sweep : found.sweeps) {
    sweeps.push_back({{"name", sweep.name},
                      {"folder", shown(sweep.folder.lexically_relative(results_).generic_string())},
                      {"points", sweep.points},
                      {"question", sweep.question ? ordered_json(*sweep.question) : ordered_json()}});
  }
  ordered_json around = {{"sweeps", sweeps}, {"problems", found.problems}, {"other_files", found.other_files}};
  const std::lock_guard lock(mutex_);
  for (auto run = runs_.begin(); run != runs_.end();) {
    if (found.records.contains(run->first)) {
      ++run;
    } else {
      removed_[run->first] = ++version_;
      run = runs_.erase(run);
    }
  }
  if (around != around_) ++version_;
  around_ = std::move(around);
}

void Watch::read_record_of(const std::string& folder, const fs::path& path) {
  const auto before = seen(folder);
  const FileStamp stamp = stamp_of(path);
  if (before && before->record == stamp && before->record_path == path) {
    // No file tells that a run was killed.
    const bool says_running = before->unreadable.empty() && before->says.status == RunStatus::kRunning;
    const bool may_change = says_running && before->has_folder();
    if (!may_change || RunLock::is_taken(path.parent_path()) != before->was_killed) return;
  }
  SeenRun run = before ? *before : SeenRun();
  run.record_path = path;
  run.record = stamp;
  try {
    run.says = read_record(path);
    run.unreadable.clear();
    run.was_killed = was_killed(run.says, path);
    run.known = known_lines(run.says);
    RunMetrics summary = std::exchange(run.says.summary, std::nullopt).value_or(RunMetrics());
    // Without a metrics.jsonl the numbers come from the record's summary.
    const bool alone = !run.has_folder() || stamp_of(run.file("metrics.jsonl")) == FileStamp();
    if (alone) {
      run.metrics = std::move(summary);
      run.curve_version = 0;
    }
  } catch (const Error& error) {
    run.says = RunRecord();
    run.unreadable = error.what();
    run.was_killed = false;
  }
  publish(folder, std::move(run));
}

void Watch::read_metrics_of(const std::string& folder) {
  SeenRun run = *seen(folder);
  const fs::path path = run.file("metrics.jsonl");
  const auto begin = steady_clock::now();
  // The stamp is taken before the file is read, so that the next look sees what is appended meanwhile.
  run.metrics_file = stamp_of(path);
  run.problems.clear();
  run.half_line.clear();
  run.metrics = RunMetrics();
  if (run.metrics_file != FileStamp()) {
    const MetricTable table = read_metric_table(path, Numbers::kOwn);
    run.half_line = table.half_line;
    run.metrics = run_metrics_of(table, path, run.problems);
    if (const auto missing = missing_lines(path, run.metrics, run.known)) run.problems.push_back(*missing);
  }
  run.read_again_at = steady_clock::now() + kPauses * (steady_clock::now() - begin);
  run.curve_version = 0;
  publish(folder, std::move(run));
}

bool Watch::has_unread_metrics(const std::string& folder) const {
  const auto run = seen(folder);
  return run->has_folder() && run->read_again_at <= steady_clock::now() &&
         stamp_of(run->file("metrics.jsonl")) != run->metrics_file;
}

// The first look reads run by run, and reports its progress.
void Watch::read_all(const Found& found) {
  const auto say = [&](const std::optional<FirstLook>& now) {
    const std::lock_guard lock(mutex_);
    first_look_ = now;
  };
  FirstLook look{0, found.records.size()};
  say(look);
  for (const auto& [folder, path] : found.records) {
    if (stopped_) return;
    read_record_of(folder, path);
    if (has_unread_metrics(folder)) read_metrics_of(folder);
    ++look.read;
    say(look);
  }
  say(std::nullopt);
}

void Watch::look() try {
  const Found found = find();
  forget_missing(found);
  if (first_look_) return read_all(found);
  // Records are read first, because they are quick to read and say most.
  for (const auto& [folder, path] : found.records) {
    if (!stopped_) read_record_of(folder, path);
  }
  std::vector<std::string> grown;
  for (const auto& [folder, path] : found.records) {
    if (!stopped_ && has_unread_metrics(folder)) grown.push_back(folder);
  }
  for (size_t i = 0; i <= grown.size() && !stopped_; ++i) {
    {
      const std::lock_guard lock(mutex_);
      unread_ = grown.size() - i;
    }
    if (i < grown.size()) read_metrics_of(grown[i]);
  }
} catch (...) {
  // Folders may disappear while they are searched; the next look sees what is left.
  const std::string sentence = sentence_of_exception();
  const std::lock_guard lock(mutex_);
  around_["problems"] = {sentence};
  unread_ = 0;
  ++version_;
}

ordered_json Watch::runs(const std::string& since) const {
  std::vector<std::pair<std::string, std::shared_ptr<const SeenRun>>> changed;
  ordered_json reply;
  {
    const std::lock_guard lock(mutex_);
    uint64_t after = 0;
    if (since.starts_with(started_ + ".")) {
      std::from_chars(since.data() + started_.size() + 1, since.data() + since.size(), after);
    }
    reply = {{"results", results_.string()},
             {"numbers", shown_numbers()},
             {"version", fmt::format("{}.{}", started_, version_)},
             {"all", after == 0},
             {"unread", unread_},
             {"reading", nullptr},
             {"removed", ordered_json::array()}};
    if (first_look_) {
      const std::optional<size_t>& of = first_look_->of;
      reply["reading"] = {{"read", first_look_->read}, {"of", of ? ordered_json(*of) : ordered_json()}};
    }
    reply.update(around_);
    for (const auto& [folder, version] : removed_) {
      if (version > after) reply["removed"].push_back(folder);
    }
    for (const auto& [folder, run] : runs_) {
      if (run->version > after) changed.emplace_back(folder, run);
    }
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  reply["now"] = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  reply["runs"] = ordered_json::array();
  for (const auto& [folder, run] : changed) reply["runs"].push_back(summary_of(folder, *run));
  return reply;
}

std::string Watch::folder_of(const fs::path& record) const {
  const bool in_folder = record.filename() == "record.json";
  return shown((in_folder ? record.parent_path() : record).lexically_relative(results_).generic_string());
}

std::optional<fs::path> Watch::path_of(const std::string& folder) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, run] : runs_) {
    if (name == folder) return run->has_folder() ? run->record_path.parent_path() : run->record_path;
    for (fs::path above = run->record_path.parent_path();; above = above.parent_path()) {
      const fs::path below = above.lexically_relative(results_);
      if (shown(below.generic_string()) == folder) return above;
      if (below == "." || above == above.parent_path()) break;
    }
  }
  return std::nullopt;
}

bool Watch::is_first_look() const {
  const std::lock_guard lock(mutex_);
  return first_look_.has_value();
}

uint64_t Watch::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::optional<ordered_json> Watch::curves(const std::string& folder) const {
  const auto run = seen(shown(folder));
  if (!run) return std::nullopt;
  ordered_json reply = curves_of(run->metrics);
  reply["curve"] = run->curve_version;
  return reply;
}

std::optional<ordered_json> Watch::run(const std::string& folder) const {
  const auto run = seen(shown(folder));
  if (!run) return std::nullopt;
  ordered_json reply = {{"summary", summary_of(folder, *run)}};
  for (const char* name : {"record", "monitor", "samples", "log", "config"}) reply[name] = nullptr;
  try {
    reply["record"] = json_or_null(read_bounded(run->record_path, kLargestJson));
    if (reply["record"].is_object()) reply["record"].erase("summary");  // curves() sends its points
  } catch (const Error&) {
    // The run was deleted; the next look forgets it.
  }
  if (!run->has_folder()) return reply;
  if (run->metrics.monitor) {
    const MetricTable looks = read_metric_table(run->file("metrics.jsonl"), Numbers::kMonitorLines);
    const ordered_json newest = json_or_null(looks.newest_monitor);
    if (newest.is_object()) {
      reply["monitor"] = {{"step", newest[metric::kStep]}, {"monitor", newest[metric::kMonitor]}};
      reply["monitor"].update(series_of(looks));
    }
  }
  reply["samples"] = text_or_null(run->file("samples.txt"), beginning_of);
  reply["log"] = text_or_null(run->file("log.txt"), end_of);
  reply["config"] = text_or_null(run->file("config.yaml"), configuration_of);
  return reply;
}

}  // namespace eggroll
