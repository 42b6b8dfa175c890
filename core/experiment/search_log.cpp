#include "experiment/search_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "eggroll/error.h"
#include "record/fields.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {

void fields(auto& list, Either<Trial> auto& trial) {
  list("draw", trial.draw);
  list("unit", trial.coordinates);
}

void fields(auto& list, Either<TrialResult> auto& result) {
  list("figure", result.score);
  list("steps", result.steps);
}

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int kLogSchema = 1;
constexpr const char* kLines = "lines";
constexpr const char* kLogCure = "restore it from a copy, or remove the sweep's folder to search anew";

Error damaged(const std::string& what, const std::string& why) {
  return Error(fmt::format("{} is damaged: {}; {}", what, why, kLogCure));
}

template <class Struct>
std::string line_of(ordered_json line, const Struct& said) {
  FieldWriter list(line);
  fields(list, said);
  return sealed_line(line) + "\n";
}

}  // namespace

SearchLog::SearchLog(const fs::path& folder, ordered_json search, std::string base, ordered_json claims, size_t params)
    : file_(folder / kSearchLogName), params_(params) {
  head_ = {
      {"schema", kLogSchema}, {"search", std::move(search)}, {"base", std::move(base)}, {"claims", std::move(claims)}};
  if (is_there(file_)) read(read_file(file_, Links::kRefused));
}

void SearchLog::read(const std::string& text) {
  // The file is written whole.
  if (!text.ends_with('\n')) throw damaged(file_.string(), "its last line has no end");
  bool is_first = true;
  ordered_json lines;  // version 0.2 did not count them
  each_sealed_line(file_, text, kLogCure, [&](const ordered_json& line, const std::string& what) {
    read_members(what, kLogCure, [&] {
      if (!std::exchange(is_first, false)) return read_line(line, what);
      lines = line.value(kLines, ordered_json());
      const auto differs = [&](const char* key) { return line.at(key) != head_.at(key); };
      if (!differs("schema") && !differs("search") && !differs("base")) {
        head_["claims"] = line.at("claims");
        return;
      }
      throw Error(
          fmt::format("the search in {} was begun with other {}, expected the same until it ends; restore them, "
                      "give this search another name (name=...), or remove that folder",
                      file_.parent_path().string(),
                      differs("schema")   ? "versions of its file"
                      : differs("search") ? "settings of sweep.search"
                                          : "settings outside of sweep.search"));
    });
  });
  lines_ = text.substr(text.find('\n') + 1);
  if (lines.is_null() || lines == line_count()) return;
  throw damaged(file_.string(),
                fmt::format("it has {} lines after the first, expected {}", line_count(), lines.dump()));
}

size_t SearchLog::line_count() const { return static_cast<size_t>(std::count(lines_.begin(), lines_.end(), '\n')); }

void SearchLog::read_line(const ordered_json& line, const std::string& what) {
  const uint64_t number = whole(line.at("trial"));
  if (!line.contains("rung")) {
    auto trial = read_fields<Trial>(line);
    bool inside = trial.coordinates.size() == params_ && number == trials_.size();
    for (const double u : trial.coordinates) inside = inside && u >= 0.0 && u < 1.0;
    if (!inside) throw damaged(what, "its trial is not the next, or not within the settings' ranges");
    trials_.push_back(std::move(trial));
    return;
  }
  if (number >= trials_.size() || line.at("rung") != trials_[number].results.size()) {
    throw damaged(what, "its result is not the next of a trial");
  }
  trials_[number].results.push_back(read_fields<TrialResult>(line));
}

void SearchLog::add_trials(const std::vector<Trial>& drawn) {
  for (const Trial& trial : drawn) {
    lines_ += line_of({{"trial", trials_.size()}}, trial);
    trials_.push_back(trial);
  }
}

void SearchLog::add_result(uint64_t trial, const TrialResult& result) {
  std::vector<TrialResult>& results = trials_.at(trial).results;
  lines_ += line_of({{"trial", trial}, {"rung", results.size()}}, result);
  results.push_back(result);
}

void SearchLog::write() const {
  ordered_json head = head_;
  head[kLines] = line_count();
  write_atomically(file_, sealed_line(head) + "\n" + lines_);
}

void SearchLog::forget_failures() {
  const std::vector<Trial> all = std::move(trials_);
  trials_.clear();
  lines_.clear();
  add_trials(all);
  for (uint64_t trial = 0; trial < all.size(); ++trial) {
    trials_[trial].results.clear();
    for (const TrialResult& result : all[trial].results) {
      if (result.score) add_result(trial, result);
    }
  }
}

bool is_judged(const fs::path& sweep, uint64_t trial, uint64_t rung) {
  const fs::path file = sweep / kSearchLogName;
  if (!is_there(file)) return false;
  bool found = false;
  each_sealed_line(file, read_file(file, Links::kRefused), kLogCure, [&](const ordered_json& line, const std::string&) {
    found = found || (line.contains("rung") && line.value("trial", ordered_json()) == trial && line["rung"] == rung);
  });
  return found;
}

}  // namespace eggroll
