#include "train/settings.h"

#include <fmt/format.h>

#include "config/host_settings.h"
#include "eggroll/draws.h"
#include "train/hook.h"

namespace eggroll {

const std::vector<std::string> kConfigKeys = {
    "backend", "model", "optimizer",  "dataset", "noise", "fitness", "processes", "name",     "seed",  "train",
    "init",    "eval",  "checkpoint", "monitor", "stop",  "plugins", "results",   "launcher", "votes", "perturb"};

const std::vector<std::string> kModelHostKeys = {"name", "perturb_groups"};
const std::vector<std::string> kOptimizerHostKeys = {"name", "average"};

namespace {

SiteSettings read_site(Settings& s, const std::string& key) {
  SiteSettings site{};
  site.value = s.text(key + "value");
  if (s.is_text(key + "draws")) {
    s.choice(key + "draws", {"complete"});
  } else {
    site.draws = static_cast<uint32_t>(s.integer(key + "draws", 1, EGG_DRAWS_MAX));
  }
  site.orthogonal = !s.has(key + "orthogonal") || s.boolean(key + "orthogonal");
  site.amplitude = s.has(key + "amplitude") ? s.int32(key + "amplitude", 1, EGG_WIDE_AMPLITUDE_MAX) : 2;
  site.horizon = s.has(key + "horizon") ? static_cast<uint32_t>(s.integer(key + "horizon", 0, 1 << 16)) : 0;
  if (s.has(key + "shift")) site.shift = s.int32(key + "shift", 0, 30);
  return site;
}

BeginSettings read_begin(Settings& s) {
  BeginSettings begin{};
  begin.from = s.text("from");
  begin.goes_on = s.boolean("continue");
  s.text("run");
  begin.step = HostSection(s, "init").whole<uint64_t>("step");
  begin.states = s.boolean("states");
  begin.evaluations = s.boolean("evaluations");
  begin.sha256 = s.text("sha256");
  s.finish();
  return begin;
}

}  // namespace

std::vector<PerturbGroup> read_groups(Settings& s) {
  std::vector<PerturbGroup> groups(s.elements("groups"));
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string key = fmt::format("groups.{}.", i);
    groups[i].share = s.real(key + "share", 0.0, 1.0);
    for (size_t k = 0; s.has(fmt::format("{}params.{}", key, k)); ++k) {
      groups[i].params.push_back(s.text(fmt::format("{}params.{}", key, k)));
    }
    const size_t sites_here = s.elements(key + "sites");
    for (size_t k = 0; k < sites_here; ++k) {
      groups[i].sites.push_back(read_site(s, fmt::format("{}sites.{}.", key, k)));
    }
    if (groups[i].params.empty() == groups[i].sites.empty()) {
      throw setting_error("groups",
                          fmt::format("groups.{} has {}, expected params, a list of names such as [embedding, "
                                      "\"context*\"], or sites, such as [{{value: output, draws: complete}}]",
                                      i, groups[i].params.empty() ? "neither params nor sites" : "both"));
    }
  }
  s.finish();
  return groups;
}

std::optional<BeginSettings> begin_settings_of(const ConfigNode& config) {
  const ConfigNode* from = config.find("init.from");
  if (from == nullptr) return std::nullopt;  // a run that began before there was a section `init`
  if (from->kind() != ConfigNode::Kind::kNull) return read_section(config, "init", read_begin);
  if (config.at("init.continue").boolean()) {
    throw wrong(
        config.at("init.continue").source(),
        "init.continue is true, and init.from names no run to go on from; name one, or set init.continue=false");
  }
  require_only(config.at("init"), {"from", "continue"});
  return std::nullopt;
}

TrainSettings train_settings_of(const ConfigNode& config) {
  return read_section(config, "train", [](Settings& s) {
    const HostSection host(s, "train");
    TrainSettings train{};
    train.steps = host.whole<uint64_t>("steps");
    train.population = host.whole<uint32_t>("population");
    train.members_per_stream = host.whole<uint32_t>("members_per_stream");
    train.tokens = host.whole<uint32_t>("tokens");
    s.finish();
    if (train.population % 2 != 0) {
      throw setting_error("population",
                          fmt::format("population is {}, expected an even number, because two members are a pair; "
                                      "use {}",
                                      train.population, train.population + 1));
    }
    if (train.members_per_stream % 2 != 0) {
      throw setting_error(
          "members_per_stream",
          fmt::format("members_per_stream is {}, expected an even number, because two members are a pair "
                      "that reads one stream; use {}",
                      train.members_per_stream, train.members_per_stream + 1));
    }
    if (train.population % train.members_per_stream != 0) {
      throw setting_error(
          "members_per_stream",
          fmt::format("members_per_stream is {}, expected a divisor of the population {}; change one of them",
                      train.members_per_stream, train.population));
    }
    return train;
  });
}

EvalSettings eval_settings_of(const ConfigNode& config) {
  return read_section(config, "eval", [&](Settings& s) {
    const HostSection host(s, "eval");
    EvalSettings eval{};
    eval.every = host.whole<uint64_t>("every");
    eval.tokens = host.whole<uint64_t>("tokens");
    eval.streams = host.whole<uint32_t>("streams");
    eval.warmup = host.whole<uint32_t>("warmup");
    eval.hook = read_hook(s, config.find("eval.hook"));
    s.finish();
    return eval;
  });
}

CheckpointSettings checkpoint_settings_of(const ConfigNode& config) {
  return read_section(config, "checkpoint", [](Settings& s) {
    const HostSection host(s, "checkpoint");
    CheckpointSettings checkpoint{host.whole<uint64_t>("every"), host.whole<uint32_t>("keep"), std::nullopt};
    if (!host.is_none("best")) checkpoint.best = s.boolean("best");
    s.finish();
    return checkpoint;
  });
}

MonitorSettings monitor_settings_of(const ConfigNode& config) {
  return read_section(config, "monitor", [](Settings& s) {
    const MonitorSettings monitor{HostSection(s, "monitor").whole<uint64_t>("every")};
    s.finish();
    return monitor;
  });
}

ProcessesSettings processes_settings_of(const ConfigNode& config) {
  return read_section(config, "processes", [](Settings& s) {
    s.text("name");  // read by choose_processes
    ProcessesSettings processes{};
    const int32_t update = s.choice("update", {"auto", "rebuilt", "sharded"});
    if (update > 0) processes.update = update == 1 ? UpdateMethod::kRebuilt : UpdateMethod::kSharded;
    processes.checksum_every = HostSection(s, "processes").whole<uint64_t>("checksum_every");
    s.finish();
    return processes;
  });
}

StopSettings stop_settings_of(const ConfigNode& config) {
  return read_section(config, "stop", [](Settings& s) {
    const HostSection host(s, "stop");
    const StopSettings stop{host.real_or_none("seconds"), host.whole_or_none<uint64_t>("steps"),
                            host.whole_or_none<uint64_t>("tokens"), host.real_or_none("bits"),
                            host.whole_or_none<uint64_t>("patience")};
    s.finish();
    return stop;
  });
}

}  // namespace eggroll
