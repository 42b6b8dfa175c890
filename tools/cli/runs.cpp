// eggroll ls, and runs by what people call them.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "cli/commands.h"
#include "cli/labels.h"
#include "cli/point_text.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "config/hash.h"
#include "record/json.h"
#include "record/run_lock.h"
#include "record/run_numbers.h"
#include "record/sentence.h"
#include "report/collection.h"
#include "system/files.h"
#include "system/number_text.h"
#include "system/text.h"
#include "train/identity.h"

namespace eggroll {
namespace fs = std::filesystem;

namespace {

constexpr size_t kFewestDigits = 4;
constexpr size_t kLeastName = 16;  // characters of a run's name, however narrow the terminal
constexpr const char* kSweeps = "results/sweeps";

bool begins_hash(const std::string& word) {
  return word.size() >= kFewestDigits &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool has_hash(const RunFolder& folder, const std::string& beginning) {
  try {
    return hash_of(folder).starts_with(beginning);
  } catch (const Error&) {
    return false;  // its record is damaged
  }
}

// The folders below ./results that the word names.
std::vector<fs::path> runs_named(const std::string& word) {
  std::vector<fs::path> named;
  if (word.find('/') != std::string::npos) return named;
  for (const fs::path& folder : run_folders()) {
    const bool is_name = folder.filename() == word;
    if (is_name || (begins_hash(word) && has_hash({folder}, word))) {
      named.push_back(folder);
    }
  }
  return named;
}

// The only such folder; "" if there is none. Throws if there are several.
fs::path only_one(const std::string& word, const std::vector<fs::path>& named, const char* what) {
  if (named.empty()) return "";
  if (named.size() == 1) return named.front();
  constexpr size_t kMost = 5;
  std::string list;
  for (size_t i = 0; i < std::min(kMost, named.size()); ++i) list += (i > 0 ? ", " : "") + named[i].string();
  throw Error(fmt::format("'{}' may mean any of {} {}: {}{}; name more of it, or the folder", word, named.size(), what,
                          list, named.size() > kMost ? ", ..." : ""));
}

}  // namespace

std::vector<fs::path> run_folders() {
  return is_there(kResults) ? find_records({kResults}).runs : std::vector<fs::path>();
}

std::string hash_of(const RunFolder& folder) {
  const bool has_none_yet = !is_there(folder.record()) && !has_metrics(folder);
  return has_none_yet ? run_hash(read_config(folder)) : read_record(folder.record()).config_hash;
}

RunFolder existing_run(const fs::path& path) {
  for (const fs::path& folder : {path, kResults / path}) {
    if (is_run({folder})) return RunFolder{folder};
  }
  const fs::path named = only_one(path.string(), runs_named(path.string()), "runs");
  if (!named.empty()) return RunFolder{named};
  throw Error(
      fmt::format("{} is no run, expected its folder (with a config.yaml, and a record.json or the lock that a run has "
                  "held), or the name or hash of one below {} (eggroll ls lists them)",
                  path.string(), kResults));
}

std::vector<fs::path> sweep_folders() {
  std::vector<fs::path> folders;
  std::error_code none;
  for (fs::directory_iterator entry(kSweeps, none); !none && entry != fs::directory_iterator(); entry.increment(none)) {
    if (is_there(entry->path() / "points.jsonl")) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

fs::path existing_results(const fs::path& path) {
  if (is_there(path)) return path;
  std::vector<fs::path> named = runs_named(path.string());
  for (const fs::path& folder : sweep_folders()) {
    if (folder.filename() == path) named.push_back(folder);
  }
  const fs::path below = kResults / path;
  if (named.empty() && !path.empty() && is_there(below)) return below;
  const fs::path found = only_one(path.string(), named, "runs and sweeps");
  if (!found.empty()) return found;
  throw Error(
      fmt::format("'{}' does not exist, expected a folder of runs or a record, or below {} a sweep's name or a "
                  "run's name or hash (eggroll ls lists them)",
                  path.string(), kResults));
}

namespace {

using nlohmann::ordered_json;

struct Filter {
  std::string key;  // of the record's configuration; or status, name or hash
  std::string value;
};

// Splits words into a folder and filters.
std::vector<Filter> read_filters(const std::vector<std::string>& words, fs::path& results) {
  std::vector<Filter> filters;
  bool has_folder = false;
  for (const std::string& word : words) {
    const size_t sign = word.find('=');
    // Folders of a sweep's points have such signs too.
    const bool is_folder = sign == std::string::npos || word.find('/') < sign || is_there(word);
    if (!is_folder) {
      filters.push_back({word.substr(0, sign), word.substr(sign + 1)});
    } else if (has_folder) {
      throw Error(fmt::format("two folders were given, '{}' and '{}', expected one and key=value; leave one out",
                              results.string(), word));
    } else {
      results = existing_results(word);
      has_folder = true;
    }
  }
  return filters;
}

const ordered_json* find_key(const ordered_json& config, const std::string& key) {
  const ordered_json* node = &config;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find('.', begin), key.size());
    const std::string part = key.substr(begin, end - begin);
    if (!node->is_object() || !node->contains(part)) return nullptr;
    node = &node->at(part);
    begin = end + 1;
  }
  return node;
}

// "" if the run has no such value.
std::string value_of(const RunRecord& record, const std::string& key) {
  if (key == "status") return status_name(record.status);
  if (key == "hash") return record.config_hash;
  const ordered_json* node = find_key(record.config, key);
  if (node == nullptr || node->is_object()) return "";
  return node->is_string() ? node->get<std::string>() : node->dump();
}

// What is known of it: its configuration, and when its process wrote that.
CollectedRun as_collected(const UnrecordedRun& unrecorded) {
  const RunFolder folder{unrecorded.folder};
  const ConfigNode config = read_config(folder);
  CollectedRun run;
  run.name = unrecorded.name;
  run.record_file = folder.record();
  run.record.config = to_json(config);
  run.record.config_hash = hash_of(folder);
  run.was_killed = !RunLock::is_taken(folder.path);
  run.record.status = run.was_killed ? RunStatus::kInterrupted : RunStatus::kRunning;
  const auto written = std::chrono::file_clock::to_sys(fs::last_write_time(folder.config()));
  run.record.started_utc =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", std::chrono::time_point_cast<std::chrono::seconds>(written));
  return run;
}

struct ListedRun {
  const CollectedRun* run;
  Labels labels;
};

bool passes(const ListedRun& listed, const Filter& filter) {
  if (filter.key == "tag") {
    const std::vector<std::string>& tags = listed.labels.tags;
    return std::find(tags.begin(), tags.end(), filter.value) != tags.end();
  }
  const std::string value = value_of(listed.run->record, filter.key);
  if (filter.key == "hash") return value.starts_with(filter.value);
  const auto number = real_of(filter.value);
  return value == filter.value || (number && real_of(value) == number);
}

// Throws if no run has the key, or no run can have the status: the word is misspelt.
void require_known(const Collection& collection, const Filter& filter) {
  if (filter.key == "tag") return;
  if (filter.key == "status") {
    const std::vector<std::string> known = status_names();
    if (std::find(known.begin(), known.end(), filter.value) != known.end()) return;
    throw Error(fmt::format("status is '{}', expected one of: {}; correct it", filter.value, fmt::join(known, ", ")));
  }
  bool is_group = false;
  for (const CollectedRun& run : collection.runs) {
    if (!value_of(run.record, filter.key).empty()) return;
    const ordered_json* node = find_key(run.record.config, filter.key);
    is_group = is_group || (node != nullptr && node->is_object());
  }
  if (collection.runs.empty()) return;
  if (is_group) {
    throw Error(
        fmt::format("'{0}' has keys below it, expected one of these, such as {0}.name; correct it", filter.key));
  }
  throw Error(fmt::format("no run has a key '{}', expected status, hash, tag or a key such as model.width; correct it",
                          filter.key));
}

std::optional<Evaluation> newest_of(const RunRecord& record) { return record.final ? record.final : record.newest; }

ordered_json json_of(const ListedRun& listed) {
  const CollectedRun& run = *listed.run;
  const RunRecord& record = run.record;
  const auto newest = newest_of(record);
  ordered_json json = {{"name", run.name},
                       {"folder", run.record_file.parent_path().string()},
                       {"hash", record.config_hash},
                       {"status", status_name(record.status)},
                       {"error", or_null(record.error)}};
  for (const RunNumber* number : listed_numbers()) {
    json[number->key] = json_of(number->unit, number->of(record, run.metrics));
  }
  json["bits_per_unit"] = newest ? ordered_json(newest->bits_per_unit) : ordered_json();
  json["unit"] = newest ? ordered_json(newest->unit) : ordered_json();
  json["started_utc"] = record.started_utc;
  json["tags"] = listed.labels.tags;
  json["note"] = listed.labels.note;
  return json;
}

// A sweep's point is "grid/0003 sign_es,512,seed 0" for sweeps/grid/points/0003-optimizer=sign_es,...
std::string short_name_of(const CollectedRun& run) {
  const fs::path points = fs::path(run.name).parent_path();
  if (!run.record.sweep || points.filename() != "points") return run.name;
  fs::path above = points.parent_path();
  if (above.parent_path() == "sweeps") above = above.filename();
  const SweepRecord& sweep = *run.record.sweep;
  return fmt::format("{} {}", (above / fmt::format("{:04}", sweep.point)).string(),
                     point_values(sweep.axes, run.record.seed));
}

std::vector<std::string> names_of(const std::vector<ListedRun>& runs, bool is_short) {
  std::vector<std::string> names;
  for (const ListedRun& listed : runs) {
    const std::vector<std::string>& tags = listed.labels.tags;
    names.push_back(shown(is_short ? short_name_of(*listed.run) : listed.run->name) +
                    (tags.empty() ? "" : fmt::format(" [{}]", fmt::join(tags, ", "))));
  }
  return names;
}

using Cells = std::array<std::string, 6>;
constexpr std::array<size_t, 2> kNumbers = {2, 3};  // of the cells; numbers end below each other

// The heading's, then each run's, all filled up to the widths of their columns.
std::vector<Cells> cells_of(const std::vector<ListedRun>& runs) {
  std::vector<Cells> rows = {{"hash", "status", "steps", "weights", "bits", "started"}};
  for (const ListedRun& listed : runs) {
    const RunRecord& record = listed.run->record;
    const auto newest = newest_of(record);
    std::string started = shown(record.started_utc).substr(0, 16);
    std::replace(started.begin(), started.end(), 'T', ' ');
    rows.push_back({shown(record.config_hash).substr(0, 8), status_name(record.status), std::to_string(record.steps),
                    record.parameters ? short_count(static_cast<double>(*record.parameters)) : "-",
                    newest ? fmt::format("{:.4f}/{}", newest->bits_per_unit, shown(newest->unit)) : "-", started});
  }
  for (size_t i = 0; i < rows[0].size(); ++i) {
    size_t width = 0;
    for (const Cells& row : rows) width = std::max(width, row[i].size());
    const bool is_number = std::find(kNumbers.begin(), kNumbers.end(), i) != kNumbers.end();
    for (Cells& row : rows) row[i].insert(is_number ? 0 : row[i].size(), width - row[i].size(), ' ');
  }
  return rows;
}

// On a narrow terminal points of sweeps have short names. If that is not enough, the column of the runs' beginnings is
// left out, because the rows are in its order.
void print_table(const std::vector<ListedRun>& runs) {
  if (runs.empty()) return say_line("no such run");
  const std::vector<Cells> rows = cells_of(runs);
  size_t columns = rows[0].size();
  const auto room = [&] {
    size_t others = columns;
    for (size_t i = 0; i < columns; ++i) others += rows[0][i].size();
    return std::max(row_width(), others + kLeastName) - others;
  };
  std::vector<std::string> names = names_of(runs, false);
  if (!all_fit(names, room())) names = names_of(runs, true);
  if (!all_fit(names, room())) --columns;
  names = cut_apart(names, room());
  names.insert(names.begin(), "run");
  for (size_t i = 0; i < rows.size(); ++i) {
    say_line(fmt::format("{} {}", fmt::join(rows[i].begin(), rows[i].begin() + columns, " "), names[i]));
  }
}

// words: a folder (default: results), and filters key=value.
int ls_command(const std::vector<std::string>& words, bool json) {
  fs::path results = kResults;
  const std::vector<Filter> filters = read_filters(words, results);
  if (results == kResults && !is_there(results)) {
    fmt::print("{}", json ? "[]\n" : "no runs yet\n");
    return 0;
  }
  Collection collection = collect({results});
  for (const UnrecordedRun& run : collection.unrecorded) {
    try {
      collection.runs.push_back(as_collected(run));
    } catch (const Error& error) {
      collection.problems.push_back(std::string(error.what()) + " (the run is left out)");
    }
  }
  for (const std::string& problem : collection.problems) print_error("eggroll", problem);
  bool is_whole = collection.problems.empty();
  std::vector<ListedRun> runs;
  for (const Filter& filter : filters) require_known(collection, filter);
  for (const CollectedRun& run : collection.runs) {
    ListedRun listed{&run, {}};
    try {
      const RunFolder folder{run.record_file.parent_path()};
      if (run.record_file == folder.record()) listed.labels = read_labels(folder);
    } catch (const Error& error) {
      print_error("eggroll", error.what());
      is_whole = false;
    }
    const auto is_passed = [&](const Filter& filter) { return passes(listed, filter); };
    if (std::all_of(filters.begin(), filters.end(), is_passed)) runs.push_back(std::move(listed));
  }
  // The newest first; of the same second by name.
  std::stable_sort(runs.begin(), runs.end(), [](const ListedRun& a, const ListedRun& b) {
    return a.run->record.started_utc > b.run->record.started_utc;
  });
  if (json) {
    ordered_json list = ordered_json::array();
    for (const ListedRun& run : runs) list.push_back(json_of(run));
    print_json(list);
  } else {
    print_table(runs);
  }
  return is_whole ? 0 : 1;  // what it could not read is not in the list
}

}  // namespace

void commands::declare_ls(CommandLine& line) {
  static std::vector<std::string> words;
  static bool json = false;
  CLI::App* command = line.add("ls", "List runs, the newest first: eggroll ls status=failed model.width=64",
                               [] { return ls_command(words, json); });
  line.takes(command, "what", words, "A folder, sweep or run (default: results), and key=value for each condition",
             {Words::kConditions});
  add_json(command, json);
}

}  // namespace eggroll
