#include "report/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <system_error>
#include <thread>

#include "record/json.h"
#include "record/run_files.h"
#include "record/run_lock.h"
#include "record/seal.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kRecordName = "record.json";
constexpr const char* kSweepName = "sweep.json";
// The files of a run's folder that have the sweep's request (its record repeats it), and the tags and the note.
constexpr const char* kPointName = "point.json";
constexpr const char* kLabelsName = "labels.json";

class Finder {
 public:
  void look_at(const fs::path& path) {
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (status.type() == fs::file_type::not_found) {
      throw Error(
          fmt::format("{} does not exist, expected a run's folder, a record or a folder of them", path.string()));
    }
    if (failure) throw file_error("read", path, failure.value());
    if (fs::is_directory(status)) {
      look_into(path);
    } else {
      take(path);
    }
  }

  RecordFiles found() && {
    std::sort(files_.records.begin(), files_.records.end());
    std::sort(files_.sweeps.begin(), files_.sweeps.end());
    std::sort(files_.runs.begin(), files_.runs.end());
    std::sort(files_.unrecorded.begin(), files_.unrecorded.end());
    return std::move(files_);
  }

 private:
  void look_into(const fs::path& folder) {
    std::error_code failure;
    fs::directory_iterator entries(folder, failure);
    bool has_record = false;
    for (; !failure && entries != fs::directory_iterator(); entries.increment(failure)) {
      const fs::path path = entries->path();
      const fs::path name = path.filename();
      std::error_code unknown;
      const fs::file_type type = fs::symlink_status(path, unknown).type();
      const bool is_json = name.extension() == ".json" && name != kPointName && name != kLabelsName;
      if (type == fs::file_type::directory) {
        const bool is_passed_by = name == "checkpoints" || name == "plugins" || name == "evaluations" ||
                                  name.string().starts_with(kRemovedPrefix);
        if (!is_passed_by) look_into(path);
      } else if (type == fs::file_type::symlink) {
        const fs::file_status target = fs::status(path, unknown);
        if (is_json || fs::is_directory(target) || !fs::exists(target)) {
          files_.problems.push_back(
              fmt::format("{} is a link{}, and links among results are not followed; it was left "
                          "out",
                          path.string(), fs::exists(target) ? "" : " that leads nowhere"));
        }
      } else if (is_json && type == fs::file_type::regular) {
        take(path);
      } else if (is_json) {
        files_.problems.push_back(fmt::format("{} is no regular file; it was left out", path.string()));
      }
      has_record = has_record || name == kRecordName;
    }
    if (failure == std::errc::no_such_file_or_directory) return;  // it was removed meanwhile
    if (failure) {
      files_.problems.push_back(fmt::format("the folder {} cannot be read ({}); what lies there is left out",
                                            folder.string(), failure.message()));
      files_.unread.push_back(folder);
      return;
    }
    const RunFolder run{folder};
    const bool is_of_run = is_run(run);
    if (is_of_run) files_.runs.push_back(folder);
    if (has_record) return;
    if (has_metrics(run)) {
      files_.problems.push_back(
          fmt::format("{} holds metrics but no {}, so that nothing is known of its run; it was left out",
                      folder.string(), kRecordName));
    } else if (is_of_run) {
      files_.unrecorded.push_back(folder);
    }
  }

  void take(const fs::path& file) {
    std::error_code failure;
    const fs::path whole = fs::canonical(file, failure);
    if (!seen_.insert(failure ? file : whole).second) return;
    (file.filename() == kSweepName ? files_.sweeps : files_.records).push_back(file);
  }

  RecordFiles files_;
  std::set<fs::path> seen_;
};

// The path that names a record file: its folder, or the file itself if it stands alone.
fs::path named_by(const fs::path& record) {
  return record.filename() == kRecordName ? record.parent_path() : fs::path(record).replace_extension();
}

// The path below the folder that was given.
std::string name_of(const fs::path& record, const std::vector<fs::path>& given) {
  const fs::path named = fs::absolute(named_by(record)).lexically_normal();
  for (const fs::path& path : given) {
    // Without the empty name that a slash at the end makes.
    fs::path root = fs::absolute(path / ".").lexically_normal().parent_path();
    std::error_code failure;
    if (!fs::is_directory(root, failure)) root = named_by(root);
    const fs::path below = named.lexically_relative(root);
    if (below.empty() || *below.begin() == "..") continue;
    if (below == ".") return named.filename();
    return given.size() == 1 ? below.string() : (root.filename() / below).string();
  }
  return named.string();
}

CollectedSweep sweep_of(const ordered_json& json, const fs::path& file) {
  CollectedSweep sweep;
  sweep.folder = file.parent_path();
  sweep.name = json.at("name");
  if (json.contains("question") && !json.at("question").is_null())
    sweep.question = json.at("question").get<std::string>();
  sweep.claims = json.at("claims");
  sweep.axes = object_at(json, "axes");
  sweep.points = whole(json.at("points"));
  return sweep;
}

// Reads claims.jsonl. If it is damaged, that is a problem of the collection, and the sweep has none of its lines.
void add_stated_claims(CollectedSweep& sweep, std::vector<std::string>& problems) {
  try {
    sweep.stated = read_stated_claims(sweep.folder / kStatedClaimsName);
  } catch (const Error& error) {
    problems.emplace_back(error.what());
  }
}

CollectedSweep read_sweep(const fs::path& file) {
  const std::string cure = "run `eggroll sweep` again or restore it from a copy";
  const ordered_json json = read_json(file, cure);
  if (const Seal seal = seal_of(json); seal != Seal::kWhole) {
    throw Error(fmt::format("{} is damaged: {}; {}", file.string(), fault_of(seal), cure));
  }
  return read_members(file.string(), cure, [&] { return sweep_of(json, file); });
}

// Calls body(i) for every i below count, on as many threads as the machine has. Rethrows what a call throws.
template <class Body>
void for_each_index(size_t count, const Body& body) {
  std::atomic<size_t> next{0};
  std::vector<std::future<void>> threads;
  const auto work = [&] {
    for (size_t index; (index = next++) < count;) body(index);
  };
  try {
    for (size_t i = 1; i < std::min<size_t>(count, std::thread::hardware_concurrency()); ++i) {
      threads.push_back(std::async(std::launch::async, work));
    }
  } catch (const std::system_error&) {
    // The system gives no more threads, so this thread does the rest.
  }
  work();
  for (std::future<void>& thread : threads) thread.get();
}

}  // namespace

RecordFiles find_records(const std::vector<fs::path>& paths) {
  Finder finder;
  for (const fs::path& path : paths) finder.look_at(path.lexically_normal());
  return std::move(finder).found();
}

KnownLines known_lines(const RunRecord& record) {
  if (record.summary) return {record.summary->lines, record.summary->last_step};
  // A checkpoint is saved after its step's line. A step that failed may have none.
  return {0, record.status == RunStatus::kFailed ? 0 : record.steps};
}

std::optional<std::string> missing_lines(const fs::path& file, const RunMetrics& metrics, const KnownLines& known) {
  if (metrics.lines >= known.lines && metrics.last_step >= known.last_step) return std::nullopt;
  return fmt::format(
      "{} has {} whole lines, the last of step {}, but its record knows of step {}: lines are missing; restore the "
      "file "
      "from a copy",
      file.string(), metrics.lines, metrics.last_step, known.last_step);
}

bool was_killed(const RunRecord& record, const fs::path& file) {
  if (record.status != RunStatus::kRunning || file.filename() != kRecordName) return false;
  if (RunLock::is_taken(file.parent_path())) return false;
  return read_record(file).status == RunStatus::kRunning;  // it may just have ended
}

std::optional<CollectedRun> read_collected_run(const fs::path& file, std::vector<std::string>& problems,
                                               MetricsFiles files) {
  const bool in_folder = file.filename() == kRecordName;
  const ordered_json json = read_json(file, "restore it from a copy");
  if (!in_folder && !is_record(json)) return std::nullopt;
  CollectedRun run;
  run.record_file = file;
  run.record = record_from_json(json, file.string());
  run.was_killed = was_killed(run.record, file);
  if (run.was_killed) run.record.status = RunStatus::kInterrupted;
  if (run.record.summary) run.metrics = *run.record.summary;
  // A published record stands alone: files next to it are not its own.
  if (!in_folder || !run.record.metrics_file) return run;
  // Takes a file next to the record, whatever path the record names.
  const fs::path metrics = file.parent_path() / fs::path(*run.record.metrics_file).filename();
  if (is_there(metrics)) run.metrics_file = metrics;
  if (run.record.summary && files == MetricsFiles::kUnsummarized) return run;
  if (run.metrics_file) {
    RunMetrics read = read_run_metrics(metrics, problems);
    if (const auto missing = missing_lines(metrics, read, known_lines(run.record))) problems.push_back(*missing);
    if (!run.record.summary) run.metrics = std::move(read);
  } else {
    problems.push_back(
        fmt::format("{} is missing, though its record names it; its lines are left out", metrics.string()));
  }
  return run;
}

Collection collect(const std::vector<fs::path>& paths, MetricsFiles metrics) {
  RecordFiles files = find_records(paths);
  Collection collection;
  collection.problems = std::move(files.problems);
  for (const fs::path& folder : files.unrecorded) {
    collection.unrecorded.push_back({name_of(folder / kRecordName, paths), folder});
  }
  for (const fs::path& file : files.sweeps) {
    try {
      collection.sweeps.push_back(read_sweep(file));
      add_stated_claims(collection.sweeps.back(), collection.problems);
    } catch (const Error& error) {
      collection.problems.emplace_back(error.what());
    }
  }
  struct Read {
    std::optional<CollectedRun> run;
    std::vector<std::string> problems;
  };
  std::vector<Read> read(files.records.size());
  for_each_index(read.size(), [&](size_t i) {
    try {
      read[i].run = read_collected_run(files.records[i], read[i].problems, metrics);
      if (read[i].run) read[i].run->name = name_of(files.records[i], paths);
    } catch (const Error& error) {
      read[i].problems.push_back(std::string(error.what()) + " (the run is left out)");
    }
  });
  for (Read& one : read) {
    collection.problems.insert(collection.problems.end(), one.problems.begin(), one.problems.end());
    if (one.run) {
      collection.runs.push_back(std::move(*one.run));
    } else if (one.problems.empty()) {
      ++collection.other_files;
    }
  }
  std::sort(collection.runs.begin(), collection.runs.end(),
            [](const CollectedRun& a, const CollectedRun& b) { return is_before(a.name, b.name); });
  return collection;
}

}  // namespace eggroll
