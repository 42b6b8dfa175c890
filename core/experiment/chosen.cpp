#include "experiment/chosen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/merge.h"
#include "config/override.h"
#include "config/value.h"
#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

using Row = std::vector<std::string>;

std::string value_text(const std::string& override_text) { return override_text.substr(override_text.find('=') + 1); }

// Each value of the key in the rows once, in order.
Row values_in(const std::vector<Row>& rows, const std::string& key) {
  Row values;
  for (const Row& row : rows) {
    for (const std::string& text : row) {
      const std::string value = value_text(text);
      if (parse_override(text).key != key || std::find(values.begin(), values.end(), value) != values.end()) continue;
      values.push_back(value);
    }
  }
  return values;
}

}  // namespace

bool is_same_value(const ConfigNode& a, const ConfigNode& b) { return a == b || in_kind_of(a, b) == a; }

CommandLineValues::CommandLineValues(const ConfigSearch& search, const std::vector<std::string>& overrides)
    : search_(search) {
  for (const std::string& text : overrides) {
    const Override change = parse_override(text);
    if (change.action == Override::Action::kDelete) {
      values_.erase(change.key);
    } else {
      set(change.key, parse_element(*change.value, change.source));
    }
  }
}

void CommandLineValues::set(const std::string& key, const ConfigNode& value) {
  values_.insert_or_assign(key, value);
  if (value.kind() != ConfigNode::Kind::kMap) return;
  for (const ConfigNode::Entry& entry : value.map()) set(join_path(key, entry.key), entry.value);
}

std::vector<Row> CommandLineValues::agreeing(std::vector<Row> rows, const Source& source) {
  Row chosen;  // keys of the rows that the command line sets
  Row others;
  for (const Row& row : rows) {
    for (const std::string& text : row) {
      const std::string key = parse_override(text).key;
      require_whole(key, source);
      Row& keys = has(key) ? chosen : others;
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  if (chosen.empty()) return rows;
  for (const std::string& key : chosen) {
    const Row values = values_in(rows, key);
    const ConfigNode& value = values_.at(key);
    const bool is_only = values.size() == 1 && is_same_value(parse_element(values[0], value.source()), value);
    if (!is_only) say(key, to_line(value), fmt::format("{}", fmt::join(values, ", ")));
  }
  std::vector<Row> kept;
  for (Row& row : rows) {
    bool agrees = true;
    for (std::string& text : row) {
      const Override read = parse_override(text);
      if (!has(read.key)) continue;
      agrees = agrees && is_same_value(parse_element(*read.value, source), values_.at(read.key));
      text = fmt::format("{}={}", read.key, *read.value);  // without a +: the command line has added the key
    }
    if (agrees) kept.push_back(std::move(row));
  }
  if (!kept.empty()) return kept;
  if (!others.empty()) {
    throw wrong(source,
                fmt::format("no row has the command line's {}, and {} changes with it; choose values of one row, or "
                            "set {} too",
                            fmt::join(chosen, " and "), fmt::join(others, ", "), fmt::join(others, ", ")));
  }
  Row row;
  for (const std::string& key : chosen) row.push_back(fmt::format("{}={}", key, to_line(values_.at(key))));
  return {row};
}

bool CommandLineValues::fixes(const std::string& key, const Source& source, const std::string& text) {
  require_whole(key, source);
  if (!has(key)) return false;
  say(key, to_line(values_.at(key)), text.substr(text.find('=') + 1));
  return true;
}

void CommandLineValues::say(const std::string& key, const std::string& value, const std::string& instead_of) {
  std::string sentence = fmt::format("{} is {}, as the command line says; the sweep has {}", key, value, instead_of);
  if (std::find(said_.begin(), said_.end(), sentence) == said_.end()) said_.push_back(std::move(sentence));
}

// The axis would overwrite a key below its own, so the command line must not set one. A key below a group's name is
// kept: the axis only chooses an option of the group.
void CommandLineValues::require_whole(const std::string& key, const Source& source) const {
  const auto below = values_.lower_bound(key + ".");
  if (has(key) || below == values_.end() || !below->first.starts_with(key + ".") || is_group(search_, key)) return;
  throw wrong(source, fmt::format("{} is an axis and the command line sets {}, a part of it; set all of {}", key,
                                  below->first, key));
}

}  // namespace eggroll
