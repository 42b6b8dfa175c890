#include "experiment/search_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/hash.h"
#include "eggroll/error.h"
#include "experiment/grid.h"
#include "experiment/section.h"

namespace eggroll {
namespace {

constexpr int64_t kMostTrials = 10000;
constexpr int64_t kMostSteps = int64_t{1} << 62;
const std::vector<std::string> kSamplers = {"random", "sobol", "tpe"};  // as in SamplerKind

uint64_t count_of(Settings& s, const char* key, int64_t least, int64_t most, uint64_t otherwise) {
  return s.has(key) ? static_cast<uint64_t>(s.integer(key, least, most)) : otherwise;
}

Halving read_halving(const ConfigNode& config, uint64_t steps) {
  Halving halving;
  read_section(config, "sweep.search.halving", {"from", "seconds", "by"}, {}, [&](Settings& s) {
    if (s.has("from") == s.has("seconds")) {
      throw setting_error("by", "halving needs one of from, a number of steps, and seconds; set one of them");
    }
    if (s.has("from")) halving.steps = static_cast<uint64_t>(s.integer("from", 1, kMostSteps));
    if (s.has("seconds")) halving.seconds = s.real("seconds", 1e-3, 1e9);
    halving.by = count_of(s, "by", 2, 1000, halving.by);
    if (halving.steps && *halving.steps >= steps) {
      throw setting_error(
          "from", fmt::format("from is {}, expected less than the {} steps of a run; lower it", *halving.steps, steps));
    }
  });
  return halving;
}

// The value of a stop rule that the experiment itself sets.
std::optional<double> own_rule(const ConfigNode& config, const char* key) {
  const ConfigNode* node = config.find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind() == ConfigNode::Kind::kReal) return node->real();
  return node->kind() == ConfigNode::Kind::kInteger ? std::optional(static_cast<double>(node->integer()))
                                                    : std::nullopt;
}

// The settings that decide the trials and their scores, stated or by default.
nlohmann::ordered_json text_of(const SearchSettings& settings) {
  nlohmann::ordered_json params = nlohmann::ordered_json::array();
  for (const SearchParam& param : settings.params) params.push_back(param.text);
  nlohmann::ordered_json text = {{"params", params},
                                 {"sampler", kSamplers[static_cast<size_t>(settings.sampler)]},
                                 {"trials", settings.trials},
                                 {"metric", settings.metric},
                                 {"goal", settings.wants_higher ? "higher" : "lower"},
                                 {"seed", settings.seed},
                                 {"startup", settings.startup},
                                 {"batch", settings.batch},
                                 {"seeds", settings.seeds}};
  if (!settings.halving) return text;
  text["halving"] = {{"by", settings.halving->by}};
  if (settings.halving->steps) text["halving"]["from"] = *settings.halving->steps;
  if (settings.halving->seconds) text["halving"]["seconds"] = *settings.halving->seconds;
  return text;
}

std::vector<uint64_t> seeds_of(const ConfigNode& config, const ConfigNode& section, CommandLineValues& chosen) {
  const std::vector<uint64_t> own = {static_cast<uint64_t>(config.at("seed").integer())};
  const ConfigNode* seeds = section.find("seeds");
  if (seeds == nullptr || chosen.fixes("seed", seeds->source(), "seed=" + to_json(*seeds).dump())) return own;
  return read_seeds(*seeds);
}

std::vector<uint64_t> read_confirm(const ConfigNode& node, const std::vector<uint64_t>& tried) {
  std::vector<uint64_t> seeds = read_seeds(node, "sweep.search.confirm");
  for (const uint64_t seed : seeds) {
    if (std::find(tried.begin(), tried.end(), seed) == tried.end()) continue;
    throw wrong(node.source(), fmt::format("the seed {} is one that the search chooses by, expected others for the "
                                           "confirmation; set sweep.seeds to [100], say",
                                           seed));
  }
  return seeds;
}

}  // namespace

uint64_t SearchSettings::reach(uint64_t rung, uint64_t begun) const {
  uint64_t left = begun;
  for (; halving && rung > 0; --rung) left = std::max<uint64_t>(left / halving->by, 1);
  return left;
}

uint64_t SearchSettings::rungs(uint64_t begun) const {
  uint64_t rung = 0;
  while (!end_of(rung, begun).empty()) ++rung;
  return rung + 1;
}

std::vector<std::string> SearchSettings::end_of(uint64_t rung, uint64_t begun) const {
  if (!halving || (rung > 0 && reach(rung, begun) == 1)) return {};
  const double factor = std::pow(static_cast<double>(halving->by), static_cast<double>(rung));
  // A run's own rules may end it before.
  if (halving->seconds) {
    const double end = *halving->seconds * factor;
    return seconds && *seconds <= end ? std::vector<std::string>() : std::vector{fmt::format("stop.seconds={}", end)};
  }
  const double end = static_cast<double>(*halving->steps) * factor;
  if (end >= static_cast<double>(steps)) return {};
  return {fmt::format("stop.steps={}", static_cast<uint64_t>(end))};
}

std::string SearchSettings::end_text(uint64_t rung, uint64_t begun) const {
  const std::vector<std::string> end = end_of(rung, begun);
  if (end.empty()) return "to the end";
  const std::string number = end[0].substr(end[0].find('=') + 1);
  return halving->seconds ? fmt::format("for {} s", number) : fmt::format("to step {}", number);
}

std::vector<uint64_t> SearchSettings::reaching(const std::vector<Trial>& drawn, uint64_t rung, uint64_t begun) const {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < drawn.size(); ++i) {
    if (rung == 0 || (drawn[i].results.size() >= rung && drawn[i].results[rung - 1].score)) numbers.push_back(i);
  }
  if (rung == 0) return numbers;
  std::stable_sort(numbers.begin(), numbers.end(), [&](uint64_t a, uint64_t b) {
    return cost(*drawn[a].results[rung - 1].score) < cost(*drawn[b].results[rung - 1].score);
  });
  numbers.resize(std::min<size_t>(numbers.size(), reach(rung, begun)));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

nlohmann::ordered_json SearchSettings::default_claim() const {
  const char* expect = wants_higher ? "higher" : "lower";
  return {{"says", fmt::format("The settings that the search found end with {} {} than the experiment's own", expect,
                               metric == "bits" ? "held-out bits" : metric)},
          {"metric", metric},
          {"compare", {{"axis", kSettingsAxis}, {"value", kFound}, {"with", kOwn}}},
          {"expect", expect}};
}

bool is_search(const ConfigNode& config) {
  const ConfigNode* section = config.find("sweep");
  return section != nullptr && section->kind() == ConfigNode::Kind::kMap && section->find("search") != nullptr;
}

SearchSettings read_search(const ConfigNode& config, const ConfigSearch& search, CommandLineValues& chosen) {
  const ConfigNode& section = config.at("sweep");
  require_only(section, {"question", "claims", "seeds", "budget", "limits", "search"});
  SearchSettings settings;
  settings.steps = static_cast<uint64_t>(config.at("train.steps").integer());
  if (const auto own = own_rule(config, "stop.steps"))
    settings.steps = std::min(settings.steps, static_cast<uint64_t>(*own));
  settings.seconds = own_rule(config, "stop.seconds");
  settings.seeds = seeds_of(config, section, chosen);
  const ConfigNode& own = config.at("sweep.search");
  const std::vector<std::string> nested = {"params", "halving", "confirm"};
  std::vector<std::string> keys = {"sampler", "trials", "metric", "goal", "seed", "startup", "batch"};
  keys.insert(keys.end(), nested.begin(), nested.end());
  read_section(config, "sweep.search", keys, nested, [&](Settings& s) {
    settings.sampler = static_cast<SamplerKind>(s.choice("sampler", kSamplers));
    settings.trials = static_cast<uint64_t>(s.integer("trials", 1, kMostTrials));
    if (s.has("metric")) settings.metric = s.text("metric");
    if (s.has("goal")) settings.wants_higher = s.choice("goal", {"lower", "higher"}) == 1;
    if (s.has("seed")) settings.seed = static_cast<uint64_t>(s.integer("seed", 0, kMostSteps));
    settings.startup = count_of(s, "startup", 1, kMostTrials, settings.startup);
    settings.batch = count_of(s, "batch", 1, kMostTrials, settings.batch);
  });
  const ConfigNode* params = own.find("params");
  if (params == nullptr) {
    throw wrong(own.source(),
                "sweep.search has no params, expected a list of settings with the values of each; add it");
  }
  settings.params = read_params(*params, search, chosen);
  if (own.find("halving") != nullptr) settings.halving = read_halving(config, settings.steps);
  if (const ConfigNode* confirm = own.find("confirm")) settings.confirm = read_confirm(*confirm, settings.seeds);
  if (section.find("claims") != nullptr && settings.confirm.empty()) {
    throw wrong(section.find("claims")->source(),
                "a search has claims and no confirmation, expected sweep.search.confirm, because a claim is judged on "
                "fresh seeds alone; add it");
  }
  settings.text = text_of(settings);
  return settings;
}

}  // namespace eggroll
