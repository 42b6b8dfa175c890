#include "cli/point_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "record/claim.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSeed = "seed";

struct Setting {
  std::string key;
  std::string value;
};

// Those of the axes, and the seed as the last.
std::vector<Setting> settings_of(const ordered_json& axes, uint64_t seed) {
  std::vector<Setting> settings;
  const auto add = [&](const std::string& key, const ordered_json& value) {
    const std::string text = axis_text(value);
    settings.push_back({key, one_line(text, text.size())});
  };
  for (const auto& [axis, value] : axes.items()) {
    if (!value.is_object()) {
      add(axis, value);
      continue;
    }
    for (const auto& [key, one] : value.items()) add(key, one);
  }
  settings.push_back({kSeed, std::to_string(seed)});
  return settings;
}

std::string in_words(const Setting& setting) {
  return setting.key == kSeed ? fmt::format("seed {}", setting.value) : setting.value;
}

void append(std::string& list, const std::string& text) { list += (list.empty() ? "" : ",") + text; }

// What differs between the points, below its keys: "sign_es,512,seed 0" below "optimizer,population".
WhatColumn differing_values(const std::vector<SweepPoint>& points) {
  std::vector<std::string> keys;
  std::vector<std::map<std::string, std::string>> settings(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    for (const Setting& setting : settings_of(points[i].axes, points[i].seed)) {
      if (std::find(keys.begin(), keys.end(), setting.key) == keys.end()) keys.push_back(setting.key);
      settings[i][setting.key] = in_words(setting);
    }
  }
  WhatColumn differing{"", std::vector<std::string>(points.size()), true};
  for (const std::string& key : keys) {
    // A point that the axis is not for keeps the value of the experiment.
    const auto value_at = [&](size_t i) { return settings[i].contains(key) ? settings[i].at(key) : "-"; };
    std::set<std::string> values;
    for (size_t i = 0; i < points.size(); ++i) values.insert(value_at(i));
    if (values.size() < 2) continue;
    if (key != kSeed) append(differing.heading, key.substr(key.rfind('.') + 1));  // a value names the seed itself
    for (size_t i = 0; i < points.size(); ++i) append(differing.rows[i], value_at(i));
  }
  return differing;
}

}  // namespace

std::string point_values(const ordered_json& axes, uint64_t seed) {
  std::string values;
  for (const Setting& setting : settings_of(axes, seed)) append(values, in_words(setting));
  return values;
}

std::vector<std::string> cut_apart(const std::vector<std::string>& texts, size_t most) {
  std::vector<std::string> cut;
  for (const std::string& text : texts) cut.push_back(middle_cut(text, most));
  const auto kinds = [](const std::vector<std::string>& list) {
    return std::set<std::string>(list.begin(), list.end()).size();
  };
  return kinds(cut) == kinds(texts) ? cut : texts;
}

bool all_fit(const std::vector<std::string>& texts, size_t most) {
  return std::all_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return middle_cut(text, most) == text; });
}

WhatColumn what_column(const std::vector<SweepPoint>& points, size_t room, size_t more) {
  WhatColumn whole;
  for (const SweepPoint& point : points) whole.rows.push_back(point.folder.substr(5, point.folder.size() - 14));
  if (all_fit(whole.rows, room)) return whole;
  WhatColumn column = points.size() > 1 ? differing_values(points) : whole;
  column.fits = all_fit(column.rows, room);
  const size_t width = column.fits ? room : room + more;
  if (column.heading.empty() || !all_fit({column.heading}, width)) column.heading = whole.heading;
  column.rows = cut_apart(column.rows, width);
  return column;
}

}  // namespace eggroll
