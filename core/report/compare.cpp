#include "report/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "eggroll/error.h"
#include "record/metric_keys.h"
#include "report/figures.h"
#include "report/study.h"

namespace eggroll {
namespace {

using Values = std::map<std::string, std::set<std::string>>;

// What a run was made with and is.
std::map<std::string, std::string> properties_of(const CollectedRun& run) {
  const RunRecord& record = run.record;
  std::map<std::string, std::string> properties;
  for (const auto& [key, value] : config_values(record.config)) {
    if (key != "seed" && !key.starts_with("results.")) properties["config " + key] = value;
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
      for (const auto& [key, value] : properties.back()) values[key].insert(value);
    }
    // A key that some runs lack varies too.
    for (auto& [key, seen] : values) {
      const bool everywhere =
          std::all_of(properties.begin(), properties.end(), [&key = key](const auto& p) { return p.contains(key); });
      if (!everywhere) seen.insert("absent");
    }
  }

  std::vector<const CollectedRun*> runs;
  std::vector<std::map<std::string, std::string>> properties;
  Values values;
};

std::string values_text(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  if (found == values.end()) return "absent";
  constexpr size_t kMost = 6;
  std::vector<std::string> shown(found->second.begin(), found->second.end());
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

// Runs of both sides that stand for each other.
std::vector<std::pair<const CollectedRun*, const CollectedRun*>> pairs_of(const Side& a, const Side& b) {
  if (a.runs.size() == 1 && b.runs.size() == 1) return {{a.runs[0], b.runs[0]}};
  // What varies within a side and is known on both.
  std::vector<std::string> keys;
  for (const std::string& key : keys_of(a, b)) {
    if (!key.starts_with("config ") || !a.values.contains(key) || !b.values.contains(key)) continue;
    if (a.values.at(key).size() > 1 || b.values.at(key).size() > 1) keys.push_back(key);
  }
  const auto place_of = [&](const Side& side, size_t i) {
    std::vector<std::string> place = {std::to_string(side.runs[i]->record.seed)};
    for (const std::string& key : keys) {
      const auto found = side.properties[i].find(key);
      place.push_back(found == side.properties[i].end() ? "absent" : found->second);
    }
    return place;
  };
  std::map<std::vector<std::string>, const CollectedRun*> others;
  for (size_t i = 0; i < a.runs.size(); ++i) others[place_of(a, i)] = a.runs[i];
  std::vector<std::pair<const CollectedRun*, const CollectedRun*>> pairs;
  for (size_t i = 0; i < b.runs.size(); ++i) {
    const auto other = others.find(place_of(b, i));
    if (other != others.end()) pairs.emplace_back(other->second, b.runs[i]);
  }
  return pairs;
}

using Figure = std::function<std::optional<double>(const CollectedRun&)>;

struct NamedFigure {
  std::string name;
  Figure of;
  std::string (*write)(double);
};

const std::vector<NamedFigure>& figures() {
  static const std::vector<NamedFigure> all = {
      {"final held-out bits per unit", [](const CollectedRun& run) { return metric_of(run, "bits"); }, text_of},
      {"final held-out bits per unit, average of the weights",
       [](const CollectedRun& run) { return metric_of(run, "average_bits"); }, text_of},
      {"member tokens per second", [](const CollectedRun& run) { return metric_of(run, "tokens_per_second"); },
       short_count},
      {"update rate", [](const CollectedRun& run) { return metric_of(run, "update_rate"); }, percent},
      {"wall time", [](const CollectedRun& run) { return std::optional(run.record.wall_seconds); }, seconds_text},
      {"steps done", [](const CollectedRun& run) { return std::optional(static_cast<double>(run.record.steps)); },
       [](double steps) { return fmt::format("{:.0f}", steps); }},
      {"memory",
       [](const CollectedRun& run) {
         return run.record.memory_bytes ? std::optional(static_cast<double>(*run.record.memory_bytes)) : std::nullopt;
       },
       bytes_text}};
  return all;
}

// A figure for each number of a hook that a run of a pair has.
std::vector<NamedFigure> hook_figures(const std::vector<std::pair<const CollectedRun*, const CollectedRun*>>& pairs) {
  std::set<std::string> metrics;
  for (const auto& [a, b] : pairs) {
    for (const CollectedRun* run : {a, b}) {
      for (const auto& [name, value] : run->metrics.hook) metrics.insert(metric::kHookPrefix + name);
    }
  }
  std::vector<NamedFigure> figures;
  for (const std::string& name : metrics) {
    figures.push_back({name, [name](const CollectedRun& run) { return metric_of(run, name); }, text_of});
  }
  return figures;
}

std::string figure_line(const NamedFigure& figure,
                        const std::vector<std::pair<const CollectedRun*, const CollectedRun*>>& pairs) {
  std::vector<OfSeed> before;
  std::vector<OfSeed> after;
  std::vector<OfSeed> differences;
  for (const auto& [a, b] : pairs) {
    const auto of_a = figure.of(*a);
    const auto of_b = figure.of(*b);
    if (!of_a || !of_b) continue;
    before.push_back({b->record.seed, *of_a});
    after.push_back({b->record.seed, *of_b});
    differences.push_back({b->record.seed, *of_b - *of_a});
  }
  if (differences.empty()) return "";
  if (pairs.size() == 1) {
    return fmt::format("{}: {} in A, {} in B{}", figure.name, figure.write(before[0].value),
                       figure.write(after[0].value), differences[0].value == 0.0 ? " (equal)" : "");
  }
  return fmt::format("{}: mean {} in A, {} in B; B minus A {}", figure.name, figure.write(mean_over_seeds(before).mean),
                     figure.write(mean_over_seeds(after).mean),
                     text_of(mean_over_seeds(differences), differences.size(), "pair"));
}

}  // namespace

std::vector<std::string> compare(const Collection& a, const Collection& b) {
  for (const Collection* side : {&a, &b}) {
    if (!side->runs.empty()) continue;
    throw Error(fmt::format("{} has no record of a run to compare, expected at least one{}", side == &a ? "A" : "B",
                            side->problems.empty() ? "" : "; " + side->problems.front()));
  }
  const Side left(a);
  const Side right(b);
  std::vector<std::string> lines;
  for (const std::string& key : keys_of(left, right)) {
    const bool equal =
        left.values.contains(key) && right.values.contains(key) && left.values.at(key) == right.values.at(key);
    if (!equal)
      lines.push_back(
          fmt::format("{}: {} in A, {} in B", key, values_text(left.values, key), values_text(right.values, key)));
  }
  if (lines.empty()) lines.emplace_back("configuration, plugins, machine and data are the same");
  const auto pairs = pairs_of(left, right);
  if (left.runs.size() > 1 || right.runs.size() > 1) {
    lines.push_back(fmt::format(
        "{} in A, {} in B, {} with the same seed and the same values of the settings that vary within A or B",
        count_text(left.runs.size(), "run"), count_text(right.runs.size(), "run"), count_text(pairs.size(), "pair")));
  } else {
    const RunRecord& one = left.runs[0]->record;
    const RunRecord& other = right.runs[0]->record;
    if (one.seed != other.seed) lines.push_back(fmt::format("seed: {} in A, {} in B", one.seed, other.seed));
    if (one.status != other.status) {
      lines.push_back(fmt::format("status: {} in A, {} in B", status_name(one.status), status_name(other.status)));
    }
  }
  std::vector<NamedFigure> all = figures();
  for (NamedFigure& figure : hook_figures(pairs)) all.push_back(std::move(figure));
  for (const NamedFigure& figure : all) {
    const std::string line = figure_line(figure, pairs);
    if (!line.empty()) lines.push_back(line);
  }
  size_t known = 0;
  size_t same = 0;
  for (const auto& [one, other] : pairs) {
    if (!one->record.weights_sha256 || !other->record.weights_sha256) continue;
    ++known;
    if (one->record.weights_sha256 == other->record.weights_sha256) ++same;
  }
  if (known > 0)
    lines.push_back(fmt::format("weights: equal, to the bit, in {} of {}", same, count_text(known, "pair")));
  return lines;
}

}  // namespace eggroll
