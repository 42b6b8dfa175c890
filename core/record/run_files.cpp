#include "record/run_files.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <system_error>
#include <vector>

#include "record/json.h"
#include "record/record.h"
#include "record/run_lock.h"
#include "system/files.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFirstBytes = size_t{1} << 20;  // more than a line of metrics has

bool is_file(const fs::path& path) {
  std::error_code unknown;
  return fs::symlink_status(path, unknown).type() == fs::file_type::regular;
}

bool is_record_file(const fs::path& path) try {
  return is_file(path) && is_record(read_json(path, ""));
} catch (const Error&) {
  return false;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The final name of a file that is being written under this name.
std::string_view written_as(std::string_view name) {
  constexpr std::string_view kEnd = ".tmp";
  if (!name.ends_with(kEnd)) return name;
  name.remove_suffix(kEnd.size());
  if (name.starts_with('.')) name.remove_prefix(1);
  return name;
}

// The contents of a folder within a run's folder.
enum class Holds { kRun, kCheckpoint, kCheckpoints, kEvaluations };

bool is_own_file(std::string_view name, Holds holds) {
  switch (holds) {
    case Holds::kRun:
      return is_one_of(name, {"config.yaml", "record.json", "metrics.jsonl", "journal.bin", "curve.png", "curve.gp",
                              "samples.txt", "lock", "labels.json", "labels.lock", "point.json", "log.txt", "held"});
    case Holds::kCheckpoint:
      return is_one_of(name, {"model.safetensors", "optimizer.safetensors", "states.safetensors", "checkpoint.json"});
    case Holds::kCheckpoints:
      return false;
    case Holds::kEvaluations:
      return name.starts_with("step-") && name.find(".json") != std::string_view::npos;
  }
  return false;
}

// The contents of a run's folder of this name; nothing if a run has no such folder.
std::optional<Holds> own_folder_named(std::string_view name, Holds around) {
  if (around == Holds::kCheckpoints && (name.starts_with("step-") || name.starts_with(".tmp-"))) {
    return Holds::kCheckpoint;
  }
  if (around != Holds::kRun) return std::nullopt;
  if (name == "checkpoints") return Holds::kCheckpoints;
  if (name == "evaluations") return Holds::kEvaluations;
  return is_one_of(name, {"initial", ".tmp-initial"}) ? std::optional(Holds::kCheckpoint) : std::nullopt;
}

std::optional<fs::path> foreign_in(const fs::path& folder, Holds holds) {
  std::vector<fs::path> entries;
  std::error_code failure;
  for (fs::directory_iterator next(folder, failure); !failure && next != fs::directory_iterator();
       next.increment(failure)) {
    entries.push_back(next->path());
  }
  if (failure) throw file_error("read the folder", folder, failure.value());
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename().string();
    std::error_code unknown;
    const fs::file_type type = fs::symlink_status(entry, unknown).type();
    if (type == fs::file_type::regular && is_own_file(written_as(name), holds)) continue;
    const std::optional<Holds> within = own_folder_named(name, holds);
    if (type != fs::file_type::directory || !within) return entry;
    if (auto found = foreign_in(entry, *within)) return found;
  }
  return std::nullopt;
}

}  // namespace

bool is_run(const RunFolder& folder) {
  std::error_code failure;
  const fs::file_type type = fs::symlink_status(folder.config(), failure).type();
  const bool is_hidden = type == fs::file_type::none;
  return is_hidden ||
         (type == fs::file_type::regular && (RunLock::was_held(folder.path) || is_record_file(folder.record())));
}

bool has_metrics(const RunFolder& folder) try {
  return is_there(folder.metrics()) && read_part(folder.metrics(), 0, kFirstBytes).find('\n') != std::string::npos;
} catch (const Error&) {
  return true;  // who reads it says what is wrong with it
}

std::optional<fs::path> foreign_entry(const RunFolder& folder) { return foreign_in(folder.path, Holds::kRun); }

}  // namespace eggroll
