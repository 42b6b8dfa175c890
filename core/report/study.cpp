#include "report/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "record/claim.h"
#include "record/metric_keys.h"
#include "report/axes.h"
#include "report/axis_names.h"
#include "report/claims.h"
#include "report/copies.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

void append_leaves(const ordered_json& json, const std::string& key,
                   std::vector<std::pair<std::string, ordered_json>>& leaves) {
  if (!json.is_object()) {
    leaves.emplace_back(key, json);
    return;
  }
  for (const auto& [name, value] : json.items()) append_leaves(value, key.empty() ? name : key + "." + name, leaves);
}

// The order of axis values, for configurations.
bool before(const Study& study, const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (size_t i = 0; i < study.axes.size(); ++i) {
    if (a[i] == b[i]) continue;
    const std::vector<std::string>& values = study.axes[i].values;
    return std::find(values.begin(), values.end(), a[i]) < std::find(values.begin(), values.end(), b[i]);
  }
  return false;
}

// The newest statement of the sweep's question: its folder's or, without one, its youngest record's.
void describe_sweep(Study& study, const Collection& collection) {
  const RunRecord* youngest = &study.runs.front().run->record;
  for (const StudyRun& run : study.runs) {
    const RunRecord& record = run.run->record;
    if (record.started_utc > youngest->started_utc) youngest = &record;
  }
  study.question = youngest->sweep->question;
  ordered_json current = youngest->sweep->claims;
  std::vector<StatedClaim> stated;
  for (const CollectedSweep& sweep : collection.sweeps) {
    if (sweep.name != study.name) continue;
    study.question = sweep.question;
    study.planned = sweep.points;
    current = sweep.claims;
    stated = sweep.stated;
  }
  study.claims = claims_of(study, current, stated);
}

using Parts = std::vector<std::pair<std::string, std::string>>;

// rank 4 and sigma_shift 6 of the axis noise.rank+noise.sigma_shift and its value "noise.rank=4 noise.sigma_shift=6".
// Nothing if the axis has one key, or the value names other keys.
Parts zipped_parts(const std::string& axis, const std::string& value) {
  if (axis.find('+') == std::string::npos) return {};
  Parts parts;
  std::istringstream keys(axis);
  size_t begin = 0;  // of the part of the value that is not taken yet
  for (std::string key; std::getline(keys, key, '+');) {
    const std::string start = (parts.empty() ? "" : " ") + key + "=";
    const size_t found = value.find(start, begin);
    if (found == std::string::npos || (parts.empty() && found != 0)) return {};
    if (!parts.empty()) parts.back().second = value.substr(begin, found - begin);
    parts.emplace_back(last_part(key), "");
    begin = found + start.size();
  }
  parts.back().second = value.substr(begin);
  return parts;
}

// Each axis' short name and value.
Parts parts_of(const Study& study, const std::vector<std::string>& values) {
  std::map<std::string, size_t> counts;
  for (const Axis& axis : study.axes) ++counts[last_part(axis.name)];
  Parts all;
  for (size_t i = 0; i < study.axes.size(); ++i) {
    const std::string& name = study.axes[i].name;
    const Parts parts = zipped_parts(name, values[i]);
    all.insert(all.end(), parts.begin(), parts.end());
    if (parts.empty()) all.emplace_back(counts[last_part(name)] == 1 ? last_part(name) : name, values[i]);
  }
  return all;
}

// "rank=4 sigma_shift=6", as one types it.
std::string typed(const Parts& parts) {
  std::string text;
  for (const auto& [key, value] : parts) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text;
}

// "rank 4, sigma shift 6", as one says it.
std::string spoken_text(const Parts& parts) {
  std::string text;
  for (const auto& [key, value] : parts)
    text += (text.empty() ? "" : ", ") + spoken_key(key) + " " + spoken_number(value);
  return text;
}

// "trial 8" for a search: its settings are many, and its table has them. Nothing if no trial has these values.
std::optional<std::string> trial_label(const Study& study, const std::vector<std::string>& values) {
  for (const StudyRun& run : study.runs) {
    const auto& sweep = run.run->record.sweep;
    if (run.values == values && sweep && sweep->trial) return fmt::format("trial {}", sweep->trial->trial);
  }
  return std::nullopt;
}

// Runs on markov data of some sizes are called "runs on markov" if there are no others.
void shorten_names(std::vector<Study>& studies) {
  std::map<std::string, size_t> counts;
  const auto short_name = [](const Study& study) {
    const RunRecord& record = study.runs.front().run->record;
    return record.dataset ? "runs on " + record.dataset->name : study.name;
  };
  for (const Study& study : studies) ++counts[study.of_sweep ? study.name : short_name(study)];
  for (Study& study : studies) {
    if (!study.of_sweep && counts[short_name(study)] == 1) study.name = short_name(study);
  }
}

}  // namespace

std::string Study::label(const std::vector<std::string>& values) const {
  if (const auto trial = trial_label(*this, values)) return *trial;
  return axes.empty() ? "the only configuration" : typed(parts_of(*this, values));
}

std::string Study::spoken_label(const std::vector<std::string>& values) const {
  if (const auto trial = trial_label(*this, values)) return *trial;
  return axes.empty() ? "the only configuration" : spoken_text(parts_of(*this, values));
}

std::string Study::value_text(size_t axis, const std::string& value) const {
  const Parts parts = zipped_parts(axes[axis].name, value);
  return parts.empty() ? value : typed(parts);
}

std::string Study::spoken_value(size_t axis, const std::string& value) const {
  const Parts parts = zipped_parts(axes[axis].name, value);
  return parts.empty() ? spoken_number(value) : spoken_text(parts);
}

std::vector<Configuration> Study::configurations() const {
  std::map<std::vector<std::string>, std::vector<const StudyRun*>> groups;
  for (const StudyRun& run : runs) groups[run.values].push_back(&run);
  std::vector<Configuration> result;
  for (auto& [values, members] : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [](const StudyRun* a, const StudyRun* b) { return a->run->record.seed < b->run->record.seed; });
    result.push_back({values, std::move(members)});
  }
  std::stable_sort(result.begin(), result.end(), [this](const Configuration& a, const Configuration& b) {
    return before(*this, a.values, b.values);
  });
  return result;
}

std::vector<const StudyRun*> Study::all_runs() const {
  std::vector<const StudyRun*> all;
  for (const std::vector<StudyRun>* some : {&runs, &copies}) {
    for (const StudyRun& run : *some) all.push_back(&run);
  }
  std::sort(all.begin(), all.end(), [](const StudyRun* a, const StudyRun* b) { return a->number < b->number; });
  return all;
}

std::vector<Study> studies_of(const Collection& collection) {
  std::vector<Study> studies;
  std::map<std::pair<bool, std::string>, size_t> places;
  for (size_t i = 0; i < collection.runs.size(); ++i) {
    const CollectedRun& run = collection.runs[i];
    const bool of_sweep = run.record.sweep.has_value();
    const std::string name = of_sweep ? run.record.sweep->name : data_of(run.record);
    const auto [place, is_new] = places.emplace(std::pair(of_sweep, name), studies.size());
    if (is_new) {
      Study& study = studies.emplace_back();
      study.name = of_sweep ? name : "runs on " + name;
      study.of_sweep = of_sweep;
    }
    studies[place->second].runs.push_back({&run, i + 1, {}});
  }
  for (Study& study : studies) {
    if (study.of_sweep) describe_sweep(study, collection);
    find_axes(study);
    set_copies_aside(study);
  }
  shorten_names(studies);
  return studies;
}

std::vector<std::pair<std::string, ordered_json>> config_leaves(const ordered_json& config) {
  std::vector<std::pair<std::string, ordered_json>> leaves;
  append_leaves(config, "", leaves);
  return leaves;
}

std::vector<std::pair<std::string, std::string>> config_values(const ordered_json& config) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& [key, value] : config_leaves(config)) values.emplace_back(key, axis_text(value));
  return values;
}

std::optional<double> config_number(const RunRecord& record, const char* section, const char* key) {
  if (!record.config.contains(section) || !record.config.at(section).is_object()) return std::nullopt;
  const ordered_json& values = record.config.at(section);
  if (!values.contains(key) || !values.at(key).is_number()) return std::nullopt;
  return values.at(key).get<double>();
}

std::string data_of(const RunRecord& record) {
  if (!record.dataset) return "unknown data";
  std::string text = record.dataset->name;
  if (!record.config.contains("dataset")) return text;
  for (const auto& [key, value] : record.config.at("dataset").items()) {
    if (key == "name" || key == "seed" || key == "test_path" || value.is_null()) continue;
    text += value.is_string() ? " " + std::filesystem::path(value.get<std::string>()).filename().string()
                              : fmt::format(" {} {}", key, value.dump());
  }
  return text;
}

bool has_average(const Study& study) {
  return std::any_of(study.runs.begin(), study.runs.end(),
                     [](const StudyRun& run) { return run.run->record.average.has_value(); });
}

std::optional<double> metric_of(const CollectedRun& run, const std::string& metric) {
  return metric_of(run.record, run.metrics, metric);
}

std::vector<RunPair> pairs_of(const std::vector<const StudyRun*>& runs, size_t axis, const std::string& value,
                              const std::string& with, const std::string& metric) {
  // The runs that have `with`, by seed and values of the other axes.
  std::map<std::pair<uint64_t, std::vector<std::string>>, const StudyRun*> others;
  const auto place_of = [&](const StudyRun& run) {
    std::vector<std::string> values = run.values;
    values[axis].clear();
    return std::pair(run.run->record.seed, std::move(values));
  };
  for (const StudyRun* run : runs) {
    if (same_axis_value(run->values[axis], with)) others[place_of(*run)] = run;
  }
  std::vector<RunPair> pairs;
  for (const StudyRun* run : runs) {
    if (!same_axis_value(run->values[axis], value)) continue;
    const auto other = others.find(place_of(*run));
    if (other == others.end()) continue;
    const auto a = metric_of(*run->run, metric);
    const auto b = metric_of(*other->second->run, metric);
    if (a && b) pairs.push_back({run, other->second, *a - *b, *a / *b});
  }
  return pairs;
}

std::vector<OfSeed> differences_of(const std::vector<RunPair>& pairs) {
  std::vector<OfSeed> differences;
  for (const RunPair& pair : pairs) differences.push_back({pair.of_value->run->record.seed, pair.difference});
  return differences;
}

}  // namespace eggroll
