#include "cli/several_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/runs.h"
#include "config/override.h"
#include "config/value.h"
#include "config/yaml.h"
#include "experiment/search.h"
#include "system/text.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

bool has_several(const std::string& text) {
  const Override change = parse_override(text);
  if (!change.value) return false;
  return parse_override_value(*change.value, change.source).is_sweep;
}

bool composes(const ConfigSearch& search, const Overrides& overrides) try {
  compose(search, overrides);
  return true;
} catch (const Error&) {
  return false;
}

// Whether the command takes the configuration.
bool is_accepted(const ConfigSearch& search, const Overrides& overrides, Takes takes) try {
  const ConfigNode config = compose(search, overrides);
  if (config.find("sweep") == nullptr) return takes != Takes::kSweep;
  if (takes == Takes::kRun || takes == Takes::kRuns) return false;
  if (is_search(config)) {
    Search(search, overrides, existing_run);
  } else {
    compose_sweep(search, overrides, existing_run);
  }
  return true;
} catch (const Error&) {
  return false;
}

Overrides joined(Overrides overrides, const Overrides& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

// As a shell takes them.
std::string typed(const Overrides& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

// sweep.KEY=LIST, with a + where the configuration has none.
std::string sweep_override(const ConfigNode& config, const std::string& key, const ConfigNode::List& list) {
  return fmt::format("{}{}={}", config.find(key) == nullptr ? "+" : "", key, to_line(ConfigNode(list, {})));
}

// The sweep of the configuration with these overrides as axes, in place of its own for the same keys.
Overrides as_axes(const ConfigNode& config, const Overrides& several) {
  const std::string key = is_search(config) ? "sweep.search.params" : "sweep.product";
  const ConfigNode* own = config.find(key);
  const ConfigNode::List before = own != nullptr && own->kind() == Kind::kList ? own->list() : ConfigNode::List();
  ConfigNode::List axes = before;
  Overrides result;
  for (const std::string& text : several) {
    const Override change = parse_override(text);
    if (change.key == "seed") {
      // In place of a number.
      const ConfigNode::List seeds = parse_override_value(*change.value, change.source).choices;
      result.push_back("++sweep.seeds=" + to_line(ConfigNode(seeds, {})));
      continue;
    }
    const auto is_same = [&](const ConfigNode& axis) {
      return axis.kind() == Kind::kText && parse_override(axis.text()).key == change.key;
    };
    const auto there = std::find_if(axes.begin(), axes.end(), is_same);
    if (there == axes.end()) {
      axes.emplace_back(text, Source{});
    } else {
      *there = ConfigNode(text, {});
    }
  }
  if (axes != before) result.push_back(sweep_override(config, key, axes));
  return result;
}

// The same values as one: a list where the key holds a list, a text where it holds a text.
Overrides as_one(const ConfigSearch& search, const ConfigNode& config, const Overrides& several) {
  Overrides result;
  for (const std::string& text : several) {
    const Override change = parse_override(text);
    const ConfigNode* node = is_group(search, change.key) ? nullptr : config.find(change.key);
    if (node == nullptr || (node->kind() != Kind::kList && node->kind() != Kind::kText)) return {};
    const std::string before = text.substr(0, text.find('=') + 1);
    result.push_back(
        before + (node->kind() == Kind::kList ? "[" + *change.value + "]" : to_line(ConfigNode(*change.value, {}))));
  }
  return result;
}

Error refused(const Overrides& several, const std::vector<std::string>& cures) {
  return wrong(parse_override(several[0]).source,
               fmt::format("several values, expected one; {}", fmt::join(cures, ", or ")));
}

}  // namespace

void require_one_value_each(const ConfigSearch& search, const Overrides& overrides, Takes takes) {
  Overrides several;
  Overrides others;
  for (const std::string& text : overrides) (has_several(text) ? several : others).push_back(text);
  if (several.empty()) return;
  std::vector<std::string> cures;
  const Overrides one = composes(search, others) ? as_one(search, compose(search, others), several) : Overrides();
  if (!one.empty() && is_accepted(search, joined(others, one), takes)) {
    cures.push_back(fmt::format("write {} if that is one value", typed(one)));
  }
  const Overrides first = expand_sweeps(search, overrides).front();
  // What is wrong with this one is wrong with all other cures.
  if (!cures.empty() && !composes(search, first)) throw refused(several, cures);
  const ConfigNode config = compose(search, first);
  const bool is_sweep = config.find("sweep") != nullptr;
  if (takes == Takes::kRuns && !is_sweep) cures.emplace_back("add --multirun to run each");
  if (takes == Takes::kRuns && is_sweep && composes(search, joined(first, {"~sweep"}))) {
    cures.emplace_back("add --multirun '~sweep' to run each without the experiment's sweep");
  }
  if (takes == Takes::kSweep) {
    const Overrides axes = as_axes(config, several);
    for (const Overrides& words : {axes, joined(axes, {"~sweep.claims"})}) {
      if (!is_accepted(search, joined(others, words), takes)) continue;
      cures.push_back(fmt::format("write {} to sweep over them", typed(words)));
      break;
    }
  }
  Overrides chosen;
  for (const std::string& text : first) {
    if (std::find(others.begin(), others.end(), text) == others.end()) chosen.push_back(text);
  }
  if (is_accepted(search, first, takes)) {
    cures.push_back(fmt::format("write one of them: {}", typed(chosen)));
  } else if (takes == Takes::kRun && is_accepted(search, joined(first, {"~sweep"}), takes)) {
    cures.push_back(
        fmt::format("write one of them, without the experiment's sweep: {}", typed(joined(chosen, {"~sweep"}))));
  }
  if (cures.empty()) {
    cures.push_back(fmt::format("change the sweep itself ({})", config.at("sweep").source().text()));
  }
  throw refused(several, cures);
}

}  // namespace eggroll
