#include "report/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "eggroll/error.h"
#include "record/claim.h"
#include "record/metric_keys.h"
#include "report/copies.h"
#include "report/own_settings.h"
#include "report/study.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr const char* kOfConfig = "config.";

// The properties of a run: its settings, commit, compiler, machine, data and plugins.
std::map<std::string, ordered_json> properties_of(const CollectedRun& run) {
  const RunRecord& record = run.record;
  std::map<std::string, ordered_json> properties;
  for (const auto& [key, value] : config_leaves(record.config)) {
    if (is_setting(key)) properties[kOfConfig + key] = value;
  }
  properties["commit"] = record.environment.host_commit;
  properties["compiler"] = record.environment.compiler;
  properties["machine"] = fmt::format("{}, {} cores", record.environment.cpu.model, record.environment.cpu.cores);
  if (record.device) properties["device"] = *record.device + ", " + count_text(record.threads, "thread");
  if (record.dataset)
    properties["data"] = fmt::format("{} {}", record.dataset->name, record.dataset->sha256.substr(0, 12));
  for (const PluginRecord& plugin : record.plugins) {
    properties[plugin.kind] = fmt::format("{} {}, sha256 {}", plugin.name, plugin.version, plugin.sha256.substr(0, 12));
  }
  return properties;
}

struct Side {
  explicit Side(const Collection& collection) {
    for (const CollectedRun& run : collection.runs) {
      runs.push_back(&run);
      properties.push_back(properties_of(run));
      for (const auto& [key, value] : properties.back()) values[key].known.emplace(axis_text(value), value);
    }
    for (auto& [key, seen] : values) {
      seen.absent = static_cast<size_t>(std::count_if(properties.begin(), properties.end(),
                                                      [&name = key](const auto& p) { return !p.contains(name); }));
    }
  }

  // If no run has the key, all lack it.
  Difference::Values values_of(const std::string& key) const {
    const auto found = values.find(key);
    return found == values.end() ? Difference::Values{{}, runs.size()} : found->second;
  }

  std::vector<const CollectedRun*> runs;
  std::vector<std::map<std::string, ordered_json>> properties;
  std::map<std::string, Difference::Values> values;
};

// The values as text, without the numbers of runs.
std::set<std::string> texts_of(const Difference::Values& values) {
  std::set<std::string> texts;
  for (const auto& [text, value] : values.known) texts.insert(text);
  if (values.absent > 0) texts.insert("absent");
  return texts;
}

std::string values_text(const Difference::Values& values) {
  constexpr size_t kMost = 6;
  const std::set<std::string> texts = texts_of(values);
  std::vector<std::string> shown(texts.begin(), texts.end());
  const size_t all = shown.size();
  shown.resize(std::min(all, kMost));
  return fmt::format("{}{}", fmt::join(shown, ", "), all > kMost ? fmt::format(" and {} more", all - kMost) : "");
}

std::set<std::string> keys_of(const Side& a, const Side& b) {
  std::set<std::string> keys;
  for (const Side* side : {&a, &b}) {
    for (const auto& [key, values] : side->values) keys.insert(key);
  }
  return keys;
}

using Pairs = std::vector<std::pair<const CollectedRun*, const CollectedRun*>>;

using Place = std::vector<std::string>;

// The seed of a run of a side and its values of these keys.
Place place_of(const Side& side, size_t run, const std::vector<std::string>& keys) {
  Place place = {std::to_string(side.runs[run]->record.seed)};
  for (const std::string& key : keys) {
    const auto found = side.properties[run].find(key);
    place.push_back(found == side.properties[run].end() ? "absent" : axis_text(found->second));
  }
  return place;
}

// The settings that vary within a side.
std::vector<std::string> varying_settings(const Side& side) {
  std::vector<std::string> keys;
  for (const auto& [key, values] : side.values) {
    if (key.starts_with(kOfConfig) && texts_of(values).size() > 1) keys.push_back(key);
  }
  return keys;
}

Observations observations_of(const Side& side) {
  const std::vector<std::string> keys = varying_settings(side);
  std::vector<PlacedRun> placed;
  for (size_t i = 0; i < side.runs.size(); ++i) placed.push_back({place_of(side, i, keys), side.runs[i]});
  return observations_of(placed);
}

// The runs that count, in their order.
std::set<size_t> counted_runs(const Observations& observations) {
  std::set<size_t> runs;
  for (const auto& [place, run] : observations.counted) runs.insert(run);
  return runs;
}

// Pairs of runs, one of each side, that correspond to each other, among those that count.
Pairs pairs_of(const Side& a, const std::set<size_t>& of_a, const Side& b, const std::set<size_t>& of_b) {
  if (a.runs.size() == 1 && b.runs.size() == 1) return {{a.runs[0], b.runs[0]}};
  // Settings that vary within a side and are known on both.
  std::set<std::string> known;
  for (const Side* side : {&a, &b}) {
    for (const std::string& key : varying_settings(*side)) {
      if (a.values.contains(key) && b.values.contains(key)) known.insert(key);
    }
  }
  const std::vector<std::string> keys(known.begin(), known.end());
  std::map<Place, const CollectedRun*> others;
  for (const size_t i : of_a) others[place_of(a, i, keys)] = a.runs[i];
  Pairs pairs;
  for (const size_t i : of_b) {
    const auto other = others.find(place_of(b, i, keys));
    if (other != others.end()) pairs.emplace_back(other->second, b.runs[i]);
  }
  return pairs;
}

using NumberOf = std::function<std::optional<double>(const CollectedRun&)>;

// Nothing if no pair has the number.
std::optional<ComparedNumber> compared(const std::string& key, const std::string& title, NumberUnit unit,
                                       const NumberOf& number_of, const Pairs& pairs) {
  std::vector<OfSeed> before;
  std::vector<OfSeed> after;
  std::vector<OfSeed> differences;
  for (const auto& [a, b] : pairs) {
    const auto of_a = number_of(*a);
    const auto of_b = number_of(*b);
    if (!of_a || !of_b) continue;
    before.push_back({b->record.seed, *of_a});
    after.push_back({b->record.seed, *of_b});
    differences.push_back({b->record.seed, *of_b - *of_a});
  }
  if (differences.empty()) return std::nullopt;
  return ComparedNumber{key,
                        title,
                        unit,
                        differences.size(),
                        mean_over_seeds(before),
                        mean_over_seeds(after),
                        mean_over_seeds(differences)};
}

// The numbers that some pair has.
std::vector<ComparedNumber> compared_in(const Pairs& pairs) {
  std::vector<ComparedNumber> numbers;
  const auto add = [&](const std::string& key, const std::string& title, NumberUnit unit, const NumberOf& number_of) {
    if (auto found = compared(key, title, unit, number_of, pairs)) numbers.push_back(std::move(*found));
  };
  for (const RunNumber* number : compared_numbers()) {
    add(number->key, number->title, number->unit,
        [number](const CollectedRun& run) { return number->of(run.record, run.metrics); });
  }
  std::set<std::string> of_hooks;
  for (const auto& [a, b] : pairs) {
    for (const CollectedRun* run : {a, b}) {
      for (const auto& [name, value] : run->metrics.hook) of_hooks.insert(metric::kHookPrefix + name);
    }
  }
  for (const std::string& name : of_hooks) {
    add(name, name, NumberUnit::kBits, [&name](const CollectedRun& run) { return run.metrics.hook_number(name); });
  }
  return numbers;
}

ComparedSide side_of(const Side& side) {
  ComparedSide compared;
  compared.runs = side.runs.size();
  for (const CollectedRun* run : side.runs) {
    compared.seeds.insert(run->record.seed);
    ++compared.statuses[status_name(run->record.status)];
  }
  return compared;
}

ordered_json json_of(const Difference::Values& values) {
  ordered_json known = ordered_json::array();
  for (const auto& [text, value] : values.known) known.push_back(value);
  return {{"values", known}, {"absent", values.absent}};
}

ordered_json json_of(const ComparedNumber& number) {
  const std::optional<Interval>& interval = number.difference.interval;
  return {{"metric", number.key},
          {"pairs", number.pairs},
          {"seeds", number.difference.n},
          {"a", number.a.mean},
          {"b", number.b.mean},
          {"difference", number.difference.mean},
          {"interval", interval ? ordered_json{{"low", interval->low}, {"high", interval->high}} : ordered_json()}};
}

}  // namespace

RunComparison compare(const Collection& a, const Collection& b) {
  for (const Collection* side : {&a, &b}) {
    if (!side->runs.empty()) continue;
    throw Error(fmt::format("{} has no record of a run to compare, expected at least one{}", side == &a ? "A" : "B",
                            side->problems.empty() ? "" : "; " + side->problems.front()));
  }
  const Side left(a);
  const Side right(b);
  RunComparison comparison;
  comparison.a = side_of(left);
  comparison.b = side_of(right);
  for (const std::string& key : keys_of(left, right)) {
    const Difference difference{key, left.values_of(key), right.values_of(key)};
    if (texts_of(difference.a) != texts_of(difference.b)) comparison.differences.push_back(difference);
  }
  const Observations of_left = observations_of(left);
  const Observations of_right = observations_of(right);
  comparison.copies = of_left.copies + of_right.copies;
  comparison.unlike_copies = of_left.unlike + of_right.unlike;
  const Pairs pairs = pairs_of(left, counted_runs(of_left), right, counted_runs(of_right));
  comparison.pairs = pairs.size();
  comparison.numbers = compared_in(pairs);
  for (const auto& [one, other] : pairs) {
    if (!one->record.weights_sha256 || !other->record.weights_sha256) continue;
    ++comparison.known_weights;
    if (one->record.weights_sha256 == other->record.weights_sha256) ++comparison.equal_weights;
  }
  return comparison;
}

std::vector<std::string> lines_of(const RunComparison& comparison) {
  const ComparedSide& a = comparison.a;
  const ComparedSide& b = comparison.b;
  std::vector<std::string> lines;
  for (const Difference& difference : comparison.differences) {
    std::string key = difference.key;
    if (key.starts_with(kOfConfig)) key[key.find('.')] = ' ';
    lines.push_back(fmt::format("{}: {} in A, {} in B", key, values_text(difference.a), values_text(difference.b)));
  }
  if (lines.empty()) lines.emplace_back("configuration, plugins, machine and data are the same");
  if (a.runs > 1 || b.runs > 1) {
    lines.push_back(fmt::format(
        "{} in A, {} in B, {} with the same seed and the same values of the settings that vary within A or B",
        count_text(a.runs, "run"), count_text(b.runs, "run"), count_text(comparison.pairs, "pair")));
    if (comparison.copies > 0) lines.push_back(copies_text(comparison.copies, comparison.unlike_copies));
  } else {
    if (a.seeds != b.seeds) {
      lines.push_back(fmt::format("seed: {} in A, {} in B", *a.seeds.begin(), *b.seeds.begin()));
    }
    if (a.statuses != b.statuses) {
      lines.push_back(fmt::format("status: {} in A, {} in B", a.statuses.begin()->first, b.statuses.begin()->first));
    }
  }
  for (const ComparedNumber& number : comparison.numbers) {
    const std::string of_a = text_of(number.unit, number.a.mean);
    const std::string of_b = text_of(number.unit, number.b.mean);
    if (comparison.pairs == 1) {
      lines.push_back(fmt::format("{}: {} in A, {} in B{}", number.title, of_a, of_b,
                                  number.difference.mean == 0.0 ? " (equal)" : ""));
    } else {
      lines.push_back(fmt::format("{}: mean {} in A, {} in B; B minus A {}", number.title, of_a, of_b,
                                  text_of(number.difference, number.pairs, "pair")));
    }
  }
  if (comparison.known_weights > 0) {
    lines.push_back(fmt::format("weights: equal, to the bit, in {} of {}", comparison.equal_weights,
                                count_text(comparison.known_weights, "pair")));
  }
  return lines;
}

ordered_json json_of(const RunComparison& comparison) {
  const auto side = [](const ComparedSide& of) {
    return ordered_json{{"runs", of.runs}, {"seeds", of.seeds}, {"statuses", of.statuses}};
  };
  ordered_json differences = ordered_json::array();
  for (const Difference& difference : comparison.differences) {
    differences.push_back({{"key", difference.key}, {"a", json_of(difference.a)}, {"b", json_of(difference.b)}});
  }
  ordered_json numbers = ordered_json::array();
  for (const ComparedNumber& number : comparison.numbers) numbers.push_back(json_of(number));
  return {{"a", side(comparison.a)},
          {"b", side(comparison.b)},
          {"differences", differences},
          {"copies", comparison.copies},
          {"pairs", comparison.pairs},
          {"figures", numbers},
          {"weights", {{"pairs", comparison.known_weights}, {"equal", comparison.equal_weights}}}};
}

}  // namespace eggroll
