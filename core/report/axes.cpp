#include "report/axes.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "config/tree.h"
#include "record/claim.h"
#include "report/own_settings.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// A number for each run; runs of equal values have equal numbers.
using Partition = std::vector<size_t>;

Partition partition_of(const std::vector<std::string>& values) {
  std::map<std::string, size_t> numbers;
  Partition partition;
  for (const std::string& value : values) partition.push_back(numbers.emplace(value, numbers.size()).first->second);
  return partition;
}

bool varies(const Partition& partition) {
  return std::any_of(partition.begin(), partition.end(), [](size_t number) { return number != 0; });
}

// The partition in which two runs are together if they are together in both.
Partition refined(const Partition& a, const Partition& b) {
  std::map<std::pair<size_t, size_t>, size_t> numbers;
  Partition result;
  for (size_t i = 0; i < a.size(); ++i)
    result.push_back(numbers.emplace(std::pair(a[i], b[i]), numbers.size()).first->second);
  return result;
}

// Columns of values, one for each run, in the order of their first run.
class Columns {
 public:
  explicit Columns(size_t runs) : runs_(runs) {}

  void set(const std::string& key, size_t run, const std::string& value) {
    const auto [place, is_new] = places_.emplace(key, columns_.size());
    if (is_new) columns_.emplace_back(key, std::vector<std::string>(runs_, kNoValue));
    columns_[place->second].second[run] = value;
  }

  std::vector<std::pair<std::string, std::vector<std::string>>>& all() { return columns_; }

 private:
  size_t runs_;
  std::map<std::string, size_t> places_;
  std::vector<std::pair<std::string, std::vector<std::string>>> columns_;
};

void add_axis(Study& study, const std::string& name, const std::vector<std::string>& column) {
  Axis axis;
  axis.name = name;
  std::set<std::string> seen;
  bool numbers = true;
  for (const std::string& value : column) {
    if (!seen.insert(value).second) continue;
    axis.values.push_back(value);
    numbers = numbers && real_of(value);
  }
  if (numbers) {
    std::sort(axis.values.begin(), axis.values.end(),
              [](const std::string& a, const std::string& b) { return *real_of(a) < *real_of(b); });
  }
  study.axes.push_back(std::move(axis));
  for (size_t i = 0; i < column.size(); ++i) study.runs[i].values.push_back(column[i]);
}

// Whether the axis covers the key: "fitness" covers its whole section, "train.population+train.tokens" both keys.
bool is_said_by(const std::string& axis, const std::string& key) {
  std::istringstream names(axis);
  for (std::string name; std::getline(names, name, '+');) {
    if (is_within(key, name)) return true;
  }
  return false;
}

// The settings of plain runs' overrides. Options of groups ("experiment", "optimizer") are columns of their own,
// because the configuration does not name them.
class OwnSettings {
 public:
  explicit OwnSettings(const std::vector<StudyRun>& runs) : options_(runs.size()) {
    std::map<std::string, bool> leaves;
    for (size_t i = 0; i < runs.size(); ++i) {
      for (const auto& [key, value] : own_settings(runs[i].run->record)) {
        const auto [leaf, is_new] = leaves.emplace(key, false);
        if (is_new) leaf->second = is_leaf(runs, key);
        if (leaf->second || value.starts_with('{')) {
          keys_.insert(key);
        } else {
          options_.set(key, i, value);
        }
      }
    }
  }

  Columns& options() { return options_; }

  // Whether an override names the key, a section that contains it, or a key within it.
  bool set(const std::string& key) const {
    return std::any_of(keys_.begin(), keys_.end(),
                       [&](const std::string& own) { return is_within(key, own) || is_within(own, key); });
  }
  // Whether an override accounts for the axis: as its key, as its option, or as the option that its name is of.
  bool explain(const std::string& axis) {
    return set(axis) || std::any_of(options_.all().begin(), options_.all().end(), [&](const auto& option) {
             return option.first == axis || option.first + ".name" == axis;
           });
  }

 private:
  static bool is_leaf(const std::vector<StudyRun>& runs, const std::string& key) {
    return std::any_of(runs.begin(), runs.end(), [&](const StudyRun& run) {
      const ordered_json* node = &run.run->record.config;
      std::istringstream parts(key);
      for (std::string part; std::getline(parts, part, '.');) {
        if (node->is_array()) return true;  // an element of a list
        if (!node->is_object() || !node->contains(part)) return false;
        node = &node->at(part);
      }
      return !node->is_object();
    });
  }

  Columns options_;
  std::set<std::string> keys_;
};

}  // namespace

void find_axes(Study& study) {
  const size_t n = study.runs.size();
  study.of_search = std::any_of(study.runs.begin(), study.runs.end(), [](const StudyRun& run) {
    return run.run->record.sweep && run.run->record.sweep->trial;
  });
  Columns named(n);
  Columns keys(n);
  std::vector<std::string> seeds;
  for (size_t i = 0; i < n; ++i) {
    const RunRecord& record = study.runs[i].run->record;
    seeds.push_back(std::to_string(record.seed));
    if (record.sweep) {
      for (const auto& [axis, value] : record.sweep->axes.items()) named.set(axis, i, axis_text(value));
    }
    for (const auto& [key, value] : config_values(record.config)) {
      if (changes_results(key)) keys.set(key, i, value);
    }
  }
  Partition explained(n, 0);
  std::vector<Partition> axes;
  const auto add = [&](const std::string& name, const std::vector<std::string>& column, const Partition& partition) {
    add_axis(study, name, column);
    axes.push_back(partition);
    explained = refined(explained, partition);
  };
  // In a sweep seeds are repetitions, so a key that varies with the seed belongs to the seed.
  if (study.of_sweep) explained = partition_of(seeds);
  for (const auto& [axis, column] : named.all()) {
    const Partition partition = partition_of(column);
    if (varies(partition)) add(axis, column, partition);
  }
  // Keys that no sweep and no override sets follow from those that are set, as a schedule's length from the steps.
  OwnSettings own(study.of_sweep ? std::vector<StudyRun>() : study.runs);
  const auto is_worth_saying = [&](const std::string& axis, const std::string& key) {
    return !is_said_by(axis, key) && axis != key + ".name" && (study.of_sweep || own.set(key) || !own.explain(axis));
  };
  const auto look_at = [&](const std::string& key, const std::vector<std::string>& column) {
    const Partition partition = partition_of(column);
    if (column == seeds || !varies(partition)) return;
    const auto alike = std::find(axes.begin(), axes.end(), partition);
    if (alike != axes.end()) {
      Axis& axis = study.axes[static_cast<size_t>(alike - axes.begin())];
      if (is_worth_saying(axis.name, key)) axis.alike.push_back(key);
    } else if (refined(explained, partition) != explained) {
      add(key, column, partition);
    }
  };
  // Names come first: a key that only one model or optimizer has belongs to that name.
  const auto names = std::stable_partition(keys.all().begin(), keys.all().end(),
                                           [](const auto& column) { return column.first.ends_with(".name"); });
  std::stable_partition(names, keys.all().end(), [&](const auto& column) { return own.set(column.first); });
  for (auto column = keys.all().begin(); column != names; ++column) look_at(column->first, column->second);
  for (const auto& [option, column] : own.options().all()) look_at(option, column);
  for (auto column = names; column != keys.all().end(); ++column) look_at(column->first, column->second);
}

}  // namespace eggroll
