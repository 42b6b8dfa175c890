#include "experiment/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "config/hash.h"
#include "config/override.h"
#include "config/value.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "eggroll/suggest.h"
#include "experiment/chosen.h"
#include "experiment/grid_items.h"
#include "record/claim.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;
using Kind = ConfigNode::Kind;

constexpr size_t kMostPoints = 100000;
const std::vector<std::string> kShapes = {"product", "zip", "union", "points"};

std::string key_of(const std::string& override_text) { return parse_override(override_text).key; }

std::string value_of(const std::string& override_text) { return override_text.substr(override_text.find('=') + 1); }

// "key=value,value": a point matches if it has one of the values at the key.
struct Condition {
  std::string key;
  std::vector<ConfigNode> values;
  Source source;

  explicit Condition(const ConfigNode& node) : source(node.source()) {
    const Override read = parse_override(text_in(node, "a condition"));
    if (read.action != Override::Action::kSet) {
      throw wrong(source, fmt::format("the condition '{}' changes something, expected key=value", node.text()));
    }
    const OverrideValue value = parse_override_value(*read.value, source);
    require_values(value, source);
    if (!value.patterns.empty()) {
      throw wrong(source, "a condition has a glob(), expected a list of values; write key=value,value");
    }
    key = read.key;
    values = value.choices;
  }

  bool holds_at(const GridPoint& point) const {
    for (const AxisValue& axis : point) {
      for (const std::string& text : axis.overrides) {
        if (key_of(text) != key) continue;
        const ConfigNode held = parse_element(value_of(text), source);
        return std::any_of(values.begin(), values.end(), [&](const ConfigNode& v) { return is_same_value(v, held); });
      }
    }
    return false;
  }
};

bool all_hold(const std::vector<Condition>& conditions, const GridPoint& point) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.holds_at(point); });
}

using Row = std::vector<std::string>;  // overrides

class GridReader {
 public:
  GridReader(const ConfigSearch& search, CommandLineValues& chosen) : search_(search), chosen_(chosen) {}

  // Extends every point of `before` by the choices that the item adds.
  std::vector<GridPoint> apply(const ConfigNode& item, const std::vector<GridPoint>& before) const {
    if (item.kind() == Kind::kText) {
      std::vector<Row> rows;
      for (std::string& text : axis_values(item)) rows.push_back({std::move(text)});
      return extended(before, axis_of(std::move(rows), item.source()), item.source());
    }
    const std::string shape = shape_of(item, {"when", "exclude"});
    std::vector<Condition> when;
    if (const ConfigNode* node = item.find("when")) when = conditions(*node, before);
    std::vector<GridPoint> points;
    for (const GridPoint& point : before) {
      if (!all_hold(when, point)) {
        points.push_back(point);
        continue;
      }
      for (GridPoint& made : shaped(shape, *item.find(shape), {point})) points.push_back(std::move(made));
      check_size(points.size(), item.source());
    }
    return without_excluded(item, std::move(points));
  }

  // The one key of kShapes that the map has. more: other keys that it may have.
  static std::string shape_of(const ConfigNode& grid, const std::vector<std::string>& more) {
    if (grid.kind() != Kind::kMap) {
      throw wrong(grid.source(), fmt::format("{} stands in a grid, expected an override or a map with one of: {}",
                                             shown_value(grid), fmt::join(kShapes, ", ")));
    }
    std::vector<std::string> known = kShapes;
    known.insert(known.end(), more.begin(), more.end());
    std::string shape;
    for (const ConfigNode::Entry& entry : grid.map()) {
      if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
        throw wrong(entry.value.source(),
                    fmt::format("a grid has no key '{}'{}", entry.key, suggestion(entry.key, known)));
      }
      if (std::find(kShapes.begin(), kShapes.end(), entry.key) == kShapes.end()) continue;
      if (!shape.empty()) {
        throw wrong(entry.value.source(),
                    fmt::format("a grid has both {} and {}, expected one; put them into a product or a union", shape,
                                entry.key));
      }
      shape = entry.key;
    }
    if (!shape.empty()) return shape;
    throw wrong(grid.source(), fmt::format("a grid has no points, expected one of: {}", fmt::join(kShapes, ", ")));
  }

 private:
  std::vector<GridPoint> shaped(const std::string& shape, const ConfigNode& items,
                                const std::vector<GridPoint>& before) const {
    const std::vector<ConfigNode>& list = list_in(items, shape.c_str());
    std::vector<GridPoint> points;
    if (shape == "product") {
      points = before;
      for (const ConfigNode& item : list) points = apply(item, points);
    } else if (shape == "union") {
      for (const ConfigNode& item : list) {
        if (item.kind() != Kind::kMap)
          throw wrong(item.source(),
                      "an item of a union is no grid, expected a map such as {product: [...]}; write one");
        for (GridPoint& point : apply(item, before)) points.push_back(std::move(point));
      }
    } else if (shape == "zip") {
      points = extended(before, axis_of(zipped(items), items.source()), items.source());
    } else {
      std::vector<Row> rows;
      for (const ConfigNode& item : list) rows.push_back(listed(item));
      for (const Row& row : chosen_.agreeing(std::move(rows), items.source())) {
        std::vector<GridPoint> made = before;
        for (const std::string& text : row) made = extended(made, {{key_of(text), {text}}}, items.source());
        points.insert(points.end(), made.begin(), made.end());
      }
    }
    return points;
  }

  std::vector<std::string> axis_values(const ConfigNode& item) const try {
    return each_value(search_, text_in(item, "an axis"));
  } catch (const Error& error) {
    throw wrong(item.source(), error.what());
  }

  // One axis whose values are rows of overrides.
  std::vector<AxisValue> axis_of(std::vector<Row> rows, const Source& source) const {
    std::vector<AxisValue> values;
    for (Row& row : chosen_.agreeing(std::move(rows), source)) {
      AxisValue& value = values.emplace_back();
      for (const std::string& text : row) value.axis.append(value.axis.empty() ? "" : "+").append(key_of(text));
      value.overrides = std::move(row);
    }
    return values;
  }

  std::vector<Row> zipped(const ConfigNode& items) const {
    std::vector<Row> rows;
    for (const ConfigNode& item : items.list()) {
      const std::vector<std::string> texts = axis_values(item);
      if (rows.empty()) rows.resize(texts.size());
      if (texts.size() != rows.size()) {
        throw wrong(item.source(),
                    fmt::format("'{}' has {} values, expected {} as the zip's first axis has; correct one of them",
                                item.text(), texts.size(), rows.size()));
      }
      for (size_t i = 0; i < texts.size(); ++i) rows[i].push_back(texts[i]);
    }
    return rows;
  }

  // Reads an item of `points`: each override is an axis of its own.
  Row listed(const ConfigNode& item) const {
    Row row;
    const std::vector<ConfigNode> one = {item};
    for (const ConfigNode& node : item.kind() == Kind::kList ? list_in(item, "a point") : one) {
      const std::vector<std::string> texts = axis_values(node);
      if (texts.size() != 1) {
        throw wrong(
            node.source(),
            fmt::format("'{}' has {} values, expected one, because a point is one run; write a point for each value",
                        node.text(), texts.size()));
      }
      row.push_back(texts[0]);
    }
    return row;
  }

  static std::vector<GridPoint> extended(const std::vector<GridPoint>& before, const std::vector<AxisValue>& values,
                                         const Source& source) {
    for (const AxisValue& value : values) {
      for (const std::string& text : value.overrides) require_axis(key_of(text), source);
    }
    check_size(before.size() * values.size(), source);
    std::vector<GridPoint> points;
    for (const GridPoint& point : before) {
      for (const AxisValue& value : values) {
        require_new_keys(point, value, source);
        points.push_back(point);
        points.back().push_back(value);
      }
    }
    return points;
  }

  static void require_new_keys(const GridPoint& point, const AxisValue& value, const Source& source) {
    for (const std::string& text : value.overrides) {
      for (const AxisValue& earlier : point) {
        for (const std::string& other : earlier.overrides) {
          if (key_of(other) != key_of(text)) continue;
          throw wrong(source,
                      fmt::format("{} has a value at these points already ({}); keep one", key_of(text), other));
        }
      }
    }
  }

  static void check_size(size_t points, const Source& source) {
    if (points <= kMostPoints) return;
    throw wrong(source, fmt::format("the grid has more than {} points; take fewer values", kMostPoints));
  }

  // Reads a list of conditions, each on a key that some of the points have.
  std::vector<Condition> conditions(const ConfigNode& node, const std::vector<GridPoint>& points) const {
    std::set<std::string> keys;
    for (const GridPoint& point : points) {
      for (const AxisValue& axis : point) {
        for (const std::string& text : axis.overrides) keys.insert(key_of(text));
      }
    }
    std::vector<Condition> result;
    for (const ConfigNode& item : list_in(node, "a condition")) {
      result.emplace_back(item);
      // Where only some points are chosen, an axis may be gone; that it is one was checked when all were read.
      if (keys.contains(result.back().key) || chosen_.narrows()) continue;
      const std::vector<std::string> known(keys.begin(), keys.end());
      throw wrong(item.source(), fmt::format("{} is no axis of these points{}", result.back().key,
                                             suggestion(result.back().key, known)));
    }
    return result;
  }

  std::vector<GridPoint> without_excluded(const ConfigNode& grid, std::vector<GridPoint> points) const {
    const ConfigNode* node = grid.find("exclude");
    if (node == nullptr) return points;
    std::vector<std::vector<Condition>> excluded;
    for (const ConfigNode& item : list_in(*node, "exclude")) {
      const ConfigNode one(ConfigNode::List{item}, item.source());
      excluded.push_back(conditions(item.kind() == Kind::kList ? item : one, points));
    }
    std::erase_if(points, [&](const GridPoint& point) {
      return std::any_of(excluded.begin(), excluded.end(), [&](const auto& all) { return all_hold(all, point); });
    });
    return points;
  }

  const ConfigSearch& search_;
  CommandLineValues& chosen_;
};

// [train.population=128] as {"train.population": "128"}: a key of a YAML map holds no dot here.
ordered_json axes_in(const ConfigNode& where) {
  ordered_json axes = ordered_json::object();
  for (const ConfigNode& item : list_in(where, "where")) {
    const std::string& text = text_in(item, "where");
    axes[key_of(text)] = value_of(text);
  }
  return axes;
}

}  // namespace

ordered_json read_claims(const ConfigNode& list, const std::vector<ordered_json>& points) {
  ordered_json values = ordered_json::object();
  for (const ordered_json& point : points) gather_values(values, point);
  ordered_json claims = ordered_json::array();
  for (const ConfigNode& node : list_in(list, "sweep.claims")) {
    const std::string what = fmt::format("claim {} ({})", claims.size() + 1, node.source().text());
    claims.push_back(to_json(node));
    if (const ConfigNode* where = node.find("where")) claims.back()["where"] = axes_in(*where);
    try {
      const Claim claim = claim_from_json(claims.back(), what);
      require_axes(claim, values, what);
      require_pair(claim, points, what);
    } catch (const Error& error) {
      throw setting_error("", error.what());
    }
  }
  return claims;
}

std::vector<uint64_t> read_seeds(const ConfigNode& node, const char* what) {
  const auto seed = [&](const ConfigNode& item) {
    const std::optional<int64_t> number = whole_number(item);
    if (number && *number >= 0) return static_cast<uint64_t>(*number);
    throw wrong(item.source(), fmt::format("a seed is {}, expected an integer from 0", shown_value(item)));
  };
  std::vector<uint64_t> seeds;
  if (const std::optional<int64_t> count = whole_number(node)) {
    if (*count < 1 || *count > 10000) {
      throw wrong(node.source(),
                  fmt::format("{} is {}, expected a number of seeds from 1 to 10000 or a list of seeds", what, *count));
    }
    for (int64_t i = 0; i < *count; ++i) seeds.push_back(static_cast<uint64_t>(i));
    return seeds;
  }
  for (const ConfigNode& item : list_in(node, what)) {
    seeds.push_back(seed(item));
    if (std::count(seeds.begin(), seeds.end(), seeds.back()) > 1) {
      throw wrong(item.source(), fmt::format("the seed {} is given twice; remove one", seeds.back()));
    }
  }
  return seeds;
}

Grid read_grid(const ConfigNode& config, const ConfigSearch& search, const std::vector<std::string>& overrides) {
  const ConfigNode& section = config.at("sweep");
  const std::string shape =
      GridReader::shape_of(section, {"exclude", "question", "claims", "seeds", "budget", "limits"});
  Grid grid;
  grid.seeds = read_seeds(ConfigNode(ConfigNode::List{config.at("seed")}, config.at("seed").source()));
  CommandLineValues chosen(search, overrides);
  ConfigNode points(ConfigNode::Map{}, section.source());
  for (const ConfigNode::Entry& entry : section.map()) {
    if (entry.key == "question") {
      grid.question = entry.value.text();
    } else if (entry.key == "claims") {
      continue;  // once the points are known
    } else if (entry.key == "seeds") {
      const std::vector<uint64_t> seeds = read_seeds(entry.value);
      if (!chosen.has("seed")) {
        grid.seeds = seeds;
      } else if (seeds != grid.seeds) {
        chosen.say("seed", std::to_string(grid.seeds[0]), fmt::format("{}", fmt::join(seeds, ", ")));
      }
    } else if (entry.key == "budget") {
      grid.budget = read_budget(config);
    } else if (entry.key == "limits") {
      grid.limits = read_limits(config);
    } else {
      points.map().push_back(entry);
    }
  }
  CommandLineValues nothing(search, {});
  const std::vector<GridPoint> all = GridReader(search, nothing).apply(points, {{}});
  grid.points = GridReader(search, chosen).apply(points, {{}});
  grid.said = chosen.said();
  if (grid.points.empty()) {
    throw wrong(section.source(),
                fmt::format("the grid has no points left; exclude fewer{}{}",
                            grid.said.empty() ? "" : ", or choose other values: ", fmt::join(grid.said, "; ")));
  }
  if (const ConfigNode* claims = section.find("claims")) {
    // Claims may be about values that the command line leaves out.
    std::vector<ordered_json> axes;
    for (const GridPoint& point : all) axes.push_back(axes_of(point));
    for (const GridPoint& point : grid.points) axes.push_back(axes_of(point));
    grid.claims = read_claims(*claims, axes);
  }
  return grid;
}

nlohmann::ordered_json axes_of(const GridPoint& point) {
  nlohmann::ordered_json axes = nlohmann::ordered_json::object();
  for (const AxisValue& value : point) {
    if (value.overrides.size() == 1) {
      axes[value.axis] = value_of(value.overrides[0]);
      continue;
    }
    for (const std::string& text : value.overrides) axes[value.axis][key_of(text)] = value_of(text);
  }
  return axes;
}

void gather_values(nlohmann::ordered_json& values, const nlohmann::ordered_json& axes) {
  for (const auto& [axis, value] : axes.items()) {
    ordered_json& known = values[axis];
    if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
  }
}

}  // namespace eggroll
