#include "report/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <system_error>
#include <thread>

#include "record/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kRecordName = "record.json";
constexpr const char* kSweepName = "sweep.json";
constexpr const char* kPointName = "point.json";  // how a sweep asked for a run; its record repeats it

class Finder {
 public:
  void look_at(const fs::path& path) {
    if (!fs::exists(path)) {
      throw Error(
          fmt::format("{} does not exist, expected a run's folder, a record or a folder of them", path.string()));
    }
    if (fs::is_directory(path)) {
      look_into(path);
    } else {
      take(path);
    }
  }

  RecordFiles found() && {
    std::sort(files_.records.begin(), files_.records.end());
    std::sort(files_.sweeps.begin(), files_.sweeps.end());
    return std::move(files_);
  }

 private:
  void look_into(const fs::path& folder) {
    std::error_code failure;
    fs::directory_iterator entries(folder, failure);
    if (failure) {
      files_.problems.push_back(fmt::format("the folder {} cannot be read ({}); what lies there is left out",
                                            folder.string(), failure.message()));
      return;
    }
    bool has_record = false;
    bool has_metrics = false;
    for (const fs::directory_entry& entry : entries) {
      const fs::path name = entry.path().filename();
      if (entry.is_directory() && !entry.is_symlink()) {
        if (name != "checkpoints" && name != "plugins") look_into(entry.path());
      } else if (name.extension() == ".json" && name != kPointName && entry.is_regular_file()) {
        take(entry.path());
      }
      has_record = has_record || name == kRecordName;
      has_metrics = has_metrics || name == "metrics.jsonl";
    }
    if (has_metrics && !has_record) {
      files_.problems.push_back(
          fmt::format("{} holds metrics but no {}, so that nothing is known of its run; it was left out",
                      folder.string(), kRecordName));
    }
  }

  void take(const fs::path& file) {
    if (!seen_.insert(fs::canonical(file)).second) return;
    (file.filename() == kSweepName ? files_.sweeps : files_.records).push_back(file);
  }

  RecordFiles files_;
  std::set<fs::path> seen_;
};

bool is_record(const ordered_json& json) {
  return json.is_object() && json.contains("schema") && json.contains("status") && json.contains("config_hash");
}

// What a record file is named by: its folder, or itself where it stands alone.
fs::path named_by(const fs::path& record) {
  return record.filename() == kRecordName ? record.parent_path() : fs::path(record).replace_extension();
}

// Its path below the folder that was given.
std::string name_of(const fs::path& record, const std::vector<fs::path>& given) {
  const fs::path named = fs::absolute(named_by(record)).lexically_normal();
  for (const fs::path& path : given) {
    // Without the empty name that a slash at the end makes.
    fs::path root = fs::absolute(path / ".").lexically_normal().parent_path();
    if (!fs::is_directory(root)) root = named_by(root);
    const fs::path below = named.lexically_relative(root);
    if (below.empty() || *below.begin() == "..") continue;
    if (below == ".") return named.filename();
    return given.size() == 1 ? below.string() : (root.filename() / below).string();
  }
  return named.string();
}

CollectedSweep read_sweep(const fs::path& file) try {
  const ordered_json json = ordered_json::parse(read_file(file));
  CollectedSweep sweep;
  sweep.folder = file.parent_path();
  sweep.name = json.at("name");
  if (json.contains("question") && !json.at("question").is_null())
    sweep.question = json.at("question").get<std::string>();
  sweep.claims = json.at("claims");
  sweep.axes = json.at("axes");
  sweep.points = json.at("points");
  return sweep;
} catch (const nlohmann::json::exception& e) {
  const std::string text = e.what();
  throw Error(fmt::format("{} is damaged: {}; run `eggroll sweep` again or restore it from a copy", file.string(),
                          text.substr(std::min(text.size(), text.find("] ") + 2))));
}

// body(i) for every i below count, by as many threads as the machine has; what one throws is thrown on.
template <class Body>
void for_each_index(size_t count, const Body& body) {
  std::atomic<size_t> next{0};
  std::vector<std::future<void>> threads;
  for (size_t i = 0; i < std::min<size_t>(count, std::max(1U, std::thread::hardware_concurrency())); ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (size_t index; (index = next++) < count;) body(index);
    }));
  }
  for (std::future<void>& thread : threads) thread.get();
}

}  // namespace

RecordFiles find_records(const std::vector<fs::path>& paths) {
  Finder finder;
  for (const fs::path& path : paths) finder.look_at(path.lexically_normal());
  return std::move(finder).found();
}

std::optional<CollectedRun> read_collected_run(const fs::path& file, std::vector<std::string>& problems) {
  const bool in_folder = file.filename() == kRecordName;
  const ordered_json json = ordered_json::parse(read_file(file), nullptr, false);
  if (json.is_discarded()) throw Error(fmt::format("{} is no whole JSON; restore it from a copy", file.string()));
  if (!in_folder && !is_record(json)) return std::nullopt;
  CollectedRun run;
  run.record_file = file;
  run.record = record_from_json(json, file.string());
  // A published record stands alone: what lies beside it is not its own.
  if (!in_folder || !run.record.metrics_file) return run;
  const fs::path metrics = file.parent_path() / *run.record.metrics_file;
  if (!fs::exists(metrics)) {
    problems.push_back(
        fmt::format("{} is missing, though its record names it; the run has no curve", metrics.string()));
    return run;
  }
  run.metrics_file = metrics;
  run.metrics = read_run_metrics(metrics, problems);
  return run;
}

Collection collect(const std::vector<fs::path>& paths) {
  RecordFiles files = find_records(paths);
  Collection collection;
  collection.problems = std::move(files.problems);
  for (const fs::path& file : files.sweeps) {
    try {
      collection.sweeps.push_back(read_sweep(file));
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
      read[i].run = read_collected_run(files.records[i], read[i].problems);
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
