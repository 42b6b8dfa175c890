// eggroll ls: the runs of a results folder.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/commands.h"
#include "record/sentence.h"
#include "report/collection.h"
#include "system/files.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

struct Filter {
  std::string key;  // of the record's configuration, or status
  std::string value;
};

// Splits words into a folder and filters.
std::vector<Filter> read_filters(const std::vector<std::string>& words, std::filesystem::path& results) {
  std::vector<Filter> filters;
  bool has_folder = false;
  for (const std::string& word : words) {
    const size_t sign = word.find('=');
    if (sign != std::string::npos) {
      filters.push_back({word.substr(0, sign), word.substr(sign + 1)});
    } else if (has_folder) {
      throw Error(fmt::format("two folders were given, '{}' and '{}', expected one and key=value; leave one out",
                              results.string(), word));
    } else {
      results = word;
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

std::optional<double> number_of(const std::string& text) {
  double number = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// "" is what the run has none of.
std::string value_of(const RunRecord& record, const std::string& key) {
  if (key == "status") return status_name(record.status);
  const ordered_json* node = find_key(record.config, key);
  // A group's own name is below it, as in model.name.
  if (node != nullptr && node->is_object()) node = node->contains("name") ? &node->at("name") : nullptr;
  if (node == nullptr) return "";
  return node->is_string() ? node->get<std::string>() : node->dump();
}

bool passes(const RunRecord& record, const Filter& filter) {
  const std::string value = value_of(record, filter.key);
  const auto number = number_of(filter.value);
  return value == filter.value || (number && number_of(value) == number);
}

// Throws where no run has the key: it is misspelt.
void require_known(const Collection& collection, const Filter& filter) {
  const bool known = std::any_of(collection.runs.begin(), collection.runs.end(),
                                 [&](const CollectedRun& run) { return !value_of(run.record, filter.key).empty(); });
  if (known || collection.runs.empty()) return;
  throw Error(
      fmt::format("no run has a key '{}', expected status or a key such as model.width; correct it", filter.key));
}

std::optional<Evaluation> figure_of(const RunRecord& record) { return record.final ? record.final : record.newest; }

ordered_json json_of(const CollectedRun& run) {
  const RunRecord& record = run.record;
  const auto figure = figure_of(record);
  return {{"name", run.name},
          {"folder", run.record_file.parent_path().string()},
          {"hash", record.config_hash},
          {"status", status_name(record.status)},
          {"error", record.error ? ordered_json(*record.error) : ordered_json()},
          {"steps", record.steps},
          {"bits_per_unit", figure ? ordered_json(figure->bits_per_unit) : ordered_json()},
          {"unit", figure ? ordered_json(figure->unit) : ordered_json()},
          {"started_utc", record.started_utc},
          {"wall_seconds", record.wall_seconds}};
}

void print_table(const std::vector<const CollectedRun*>& runs) {
  if (runs.empty()) return fmt::print("no such run\n");
  fmt::print("{:<12}  {:<11} {:>8}  {:<16}  {:<20}  {}\n", "hash", "status", "steps", "bits", "started", "run");
  for (const CollectedRun* run : runs) {
    const RunRecord& record = run->record;
    const auto figure = figure_of(record);
    fmt::print("{:<12}  {:<11} {:>8}  {:<16}  {:<20}  {}\n", record.config_hash.substr(0, 12),
               status_name(record.status), record.steps,
               figure ? fmt::format("{:.4f} a {}", figure->bits_per_unit, figure->unit) : "-", record.started_utc,
               run->name);
  }
}

}  // namespace

int ls_command(const std::vector<std::string>& words, bool json) {
  std::filesystem::path results = "results";
  const std::vector<Filter> filters = read_filters(words, results);
  const Collection collection = collect({results});
  for (const std::string& problem : collection.problems) print_error("eggroll", problem);
  std::vector<const CollectedRun*> runs;
  for (const Filter& filter : filters) require_known(collection, filter);
  for (const CollectedRun& run : collection.runs) {
    const auto is_passed = [&](const Filter& filter) { return passes(run.record, filter); };
    if (std::all_of(filters.begin(), filters.end(), is_passed)) runs.push_back(&run);
  }
  // The newest first; of the same second by name.
  std::stable_sort(runs.begin(), runs.end(), [](const CollectedRun* a, const CollectedRun* b) {
    return a->record.started_utc > b->record.started_utc;
  });
  if (json) {
    ordered_json list = ordered_json::array();
    for (const CollectedRun* run : runs) list.push_back(json_of(*run));
    fmt::print("{}\n", list.dump(2));
  } else {
    print_table(runs);
  }
  return 0;
}

}  // namespace eggroll
