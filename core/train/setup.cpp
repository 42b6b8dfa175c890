#include "train/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "config/settings_block.h"
#include "eggroll/draws.h"
#include "noise/initial_weights.h"
#include "noise/noise_settings.h"
#include "program/average.h"
#include "train/check_section.h"
#include "train/hook.h"

namespace eggroll {

const std::vector<std::string> kConfigKeys = {
    "backend", "model", "optimizer",  "dataset", "noise", "fitness", "processes", "name",     "seed",  "train",
    "init",    "eval",  "checkpoint", "monitor", "stop",  "plugins", "results",   "launcher", "votes", "perturb"};

const std::vector<std::string> kModelHostKeys = {"name", "perturb_groups"};
const std::vector<std::string> kOptimizerHostKeys = {"name", "average"};

namespace {

// Sections that others read, with their keys.
const std::vector<std::pair<std::string, std::vector<std::string>>> kHostKeys = {{"plugins", {"path"}},
                                                                                 {"results", {"dir", "sweeps"}}};

// The most tokens that a held-out stream reads per call of the backend: the model's whole context, if it has one.
uint32_t eval_tokens(const Program& program) {
  const int32_t context = program.view().context;
  return context > 0 ? static_cast<uint32_t>(context) : 64;
}

// A step is one call.
void require_context(const TrainSettings& train, const Program& program) {
  const int32_t context = program.view().context;
  if (context == 0 || train.tokens <= static_cast<uint32_t>(context)) return;
  throw setting_error("tokens",
                      fmt::format("tokens is {}, expected at most {}, the context of the model; use fewer, or "
                                  "a larger context of the model",
                                  train.tokens, context));
}

// Reads a section with its file and line in any error.
template <class Body>
auto read_section(const ConfigNode& config, const std::string& section, Body&& body) {
  const SettingsBlock block(config, section);
  try {
    Settings settings(block.view());
    return body(settings);
  } catch (const Error& error) {
    throw block.located(error);
  }
}

// Opens the plugin that a section's `name` chooses with the rest of the section as its settings.
template <class Instance>
std::unique_ptr<Instance> open_plugin_of(const ConfigNode& config, const std::string& section, egg_kind kind,
                                         const Registry& registry, const std::vector<std::string>& host_keys,
                                         std::vector<ChosenPlugin>& chosen) {
  const SettingsBlock whole(config, section);
  try {
    const std::string name = Settings(whole.view()).text("name");
    const SettingsBlock own(config, section, host_keys);
    chosen.push_back(registry.choose(kind, name));
    return std::make_unique<Instance>(chosen.back(), *own.view());
  } catch (const Error& error) {
    throw whole.located(error);
  }
}

// Part of a folder's name.
std::string read_name(Settings& s) {
  std::string name = s.text("name");
  const bool safe =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
  // Commands would take a folder whose name begins with - for an option.
  if (name.empty() || name.size() > 80 || !safe || name[0] == '-') {
    throw setting_error(
        "name", fmt::format("name is '{}', expected 1 to 80 letters, digits, _ and -, with no - in front", name));
  }
  return name;
}

TrainSettings read_train(Settings& s) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  TrainSettings train{};
  train.steps = static_cast<uint64_t>(s.integer("steps", 1, kMost));
  train.population = static_cast<uint32_t>(s.integer("population", 2, 1 << 24));
  train.members_per_stream = static_cast<uint32_t>(s.integer("members_per_stream", 2, 1 << 24));
  train.tokens = static_cast<uint32_t>(s.integer("tokens", 1, 1 << 20));
  s.finish();
  if (train.population % 2 != 0) {
    throw setting_error("population",
                        fmt::format("population is {}, expected an even number, because two members are a pair; "
                                    "use {}",
                                    train.population, train.population + 1));
  }
  if (train.members_per_stream % 2 != 0) {
    throw setting_error("members_per_stream",
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
}

EvalSettings read_eval(Settings& s, const ConfigNode* hook) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;
  EvalSettings eval{};
  eval.every = static_cast<uint64_t>(s.integer("every", 1, kMost));
  eval.tokens = static_cast<uint64_t>(s.integer("tokens", 2, kMost));
  eval.streams = static_cast<uint32_t>(s.integer("streams", 1, 1 << 20));
  // Runs that began before there was one have none.
  eval.warmup = s.has("warmup") ? static_cast<uint32_t>(s.integer("warmup", 0, 1 << 20)) : 0;
  eval.hook = read_hook(s, hook);
  s.finish();
  return eval;
}

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

CheckpointSettings read_checkpoint(Settings& s) {
  CheckpointSettings checkpoint{};
  checkpoint.every = static_cast<uint64_t>(s.integer("every", 1, std::numeric_limits<int64_t>::max() / 2));
  checkpoint.keep = static_cast<uint32_t>(s.integer("keep", 1, 1000000));
  // Runs that were begun before there was this key have none.
  if (s.has("best") && !s.is_null("best")) checkpoint.best = s.boolean("best");
  s.finish();
  return checkpoint;
}

MonitorSettings read_monitor(Settings& s) {
  const MonitorSettings monitor{static_cast<uint64_t>(s.integer("every", 0, std::numeric_limits<int64_t>::max() / 2))};
  s.finish();
  return monitor;
}

ProcessesSettings read_processes(Settings& s) {
  s.text("name");  // read by choose_processes
  ProcessesSettings processes{};
  const int32_t update = s.choice("update", {"auto", "rebuilt", "sharded"});
  if (update > 0) processes.update = update == 1 ? UpdateMethod::kRebuilt : UpdateMethod::kSharded;
  processes.checksum_every =
      static_cast<uint64_t>(s.integer("checksum_every", 1, std::numeric_limits<int64_t>::max() / 2));
  s.finish();
  return processes;
}

// Nothing where the key is null.
template <class Read>
auto optional_setting(Settings& s, const char* key, Read&& read) -> std::optional<decltype(read())> {
  if (s.is_null(key)) return std::nullopt;
  return read();
}

std::optional<double> read_average(Settings& s) {
  return optional_setting(s, "average", [&] { return s.real("average", 0.5, 0.99999); });
}

StopSettings read_stop(Settings& s) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;
  const auto count = [&](const char* key) {
    return optional_setting(s, key, [&] { return static_cast<uint64_t>(s.integer(key, 1, kMost)); });
  };
  StopSettings stop;
  stop.seconds = optional_setting(s, "seconds", [&] { return s.real("seconds", 1e-3, 1e9); });
  // Runs that began before there was one have none.
  if (s.has("steps")) stop.steps = count("steps");
  stop.tokens = count("tokens");
  stop.bits = optional_setting(s, "bits", [&] { return s.real("bits", 0.0, 1e3); });
  stop.patience = count("patience");
  s.finish();
  return stop;
}

BeginSettings read_begin(Settings& s) {
  BeginSettings begin{};
  begin.from = s.text("from");
  begin.goes_on = s.boolean("continue");
  s.text("run");
  begin.step = static_cast<uint64_t>(s.integer("step", 0, std::numeric_limits<int32_t>::max()));
  begin.states = s.boolean("states");
  begin.evaluations = s.boolean("evaluations");
  begin.sha256 = s.text("sha256");
  s.finish();
  return begin;
}

}  // namespace

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

Learner::Learner(const ConfigNode& config, const Registry& registry) {
  const char* const removed = "perturb.tables";
  if (const ConfigNode* node = config.find(removed)) {
    throw setting_error(removed, fmt::format("{}: {}", node->source().text(), missing_path(config, removed)));
  }
  require_only(config, kConfigKeys);
  for (const auto& [section, keys] : kHostKeys) {
    if (const ConfigNode* node = config.find(section)) require_only(*node, keys);
  }
  read_section(config, "", [&](Settings& s) {
    seed = static_cast<uint64_t>(s.integer("seed", 0, std::numeric_limits<int64_t>::max()));
    name = read_name(s);
    s.finish();
  });
  train = read_section(config, "train", read_train);
  threads = read_section(config, "backend", [](Settings& s) { return s.int32("threads", 0, 4096); });

  model = open_plugin_of<ModelInstance>(config, "model", EGG_KIND_MODEL, registry, kModelHostKeys, plugins);
  optimizer =
      open_plugin_of<OptimizerInstance>(config, "optimizer", EGG_KIND_OPTIMIZER, registry, kOptimizerHostKeys, plugins);
  program = std::make_unique<Program>(model->program());
  read_section(config, "optimizer", [&](Settings& s) {
    if (config.find("optimizer.average") != nullptr) average = read_average(s);
    rule = average ? rule_with_average(optimizer->rule(), optimizer->who()) : std::make_unique<Rule>(optimizer->rule());
  });
  read_section(config, "train", [&](Settings&) { require_context(train, *program); });
  noise = read_section(config, "noise", [&](Settings& s) {
    const egg_noise read = read_noise(s, seed, program->view().fixed_point);
    require_table_covers(program->view(), read);
    return read;
  });
  require_no_overflow(program->view(), noise);
  require_votes_fit(rule->view(), noise, train.population / 2);
  const bool masked = read_section(config, "votes", [](Settings& s) {
    const bool is_set = s.boolean("masked");
    s.finish();
    return is_set;
  });
  read_section(config, "perturb", [&](Settings& s) {
    Voting voting = assign_voters(*program, train, masked, read_groups(s));
    voters = std::move(voting.voters);
    group_streams = std::move(voting.group_streams);
    sites = std::move(voting.sites);
    require_no_overflow(program->view(), noise, sites);
    const bool reads_int32 = std::any_of(rule->view().nodes, rule->view().nodes + rule->view().node_count,
                                         [](const egg_rule_node& node) { return node.code == EGG_RULE_VOTE_I32; });
    if (!sites.empty() && reads_int32) {
      throw setting_error("groups",
                          "the optimizer reads votes as int32, and the votes of sites may be larger, expected one that "
                          "reads them as real numbers; choose another");
    }
  });
  backend =
      open_plugin_of<BackendInstance>(config, "backend", EGG_KIND_BACKEND, registry, {"name", "threads"}, plugins);
  backend->require_support(program->view(), rule->view());
}

egg_session_spec Learner::session_spec(const MemberShare& own) const {
  return {sizeof(egg_session_spec),
          threads,
          &program->view(),
          &rule->view(),
          noise,
          train.population,
          own.first,
          own.count,
          0,
          voters.data(),
          sites.data(),
          static_cast<uint32_t>(sites.size()),
          train.tokens,
          train.members_per_stream};
}

BackendSession Learner::open_session(const MemberShare& own) const {
  BackendSession session = backend->open_session(session_spec(own));
  for (uint32_t i = 0; i < program->params().size(); ++i) {
    session.set_weights(i, initial_weights(program->params()[i], i, seed).data());
  }
  return session;
}

std::vector<float> Learner::scalars(uint64_t step, std::span<const egg_evaluation> evaluations) const {
  std::vector<float> values = optimizer->scalars(step, evaluations);
  if (average) values.push_back(average_kept(*average, step));
  return values;
}

Update Learner::update(BackendSession& session, uint64_t step, std::span<const egg_evaluation> evaluations,
                       const std::vector<int8_t>& fitness, const BatchBuffer& batch, std::span<const uint8_t> chosen,
                       std::span<const egg_site_sums> sums) const {
  Update made{std::vector<int64_t>(program->params().size()), scalars(step, evaluations), vote_stds(fitness)};
  session.update(egg_update{sizeof(egg_update), static_cast<uint32_t>(fitness.size()), step, fitness.data(),
                            made.scalars.data(), made.vote_stds.data(), made.changed.data(),
                            chosen.empty() ? nullptr : chosen.data(), batch.view(), train.members_per_stream, 0,
                            sums.data()});
  return made;
}

// The sites of one group, which lie side by side, share its streams.
static bool begins_group(const std::vector<egg_site>& sites, size_t i) {
  return i == 0 || sites[i].first_pair != sites[i - 1].first_pair;
}

uint32_t Learner::pairs_of_sites() const {
  uint32_t pairs = 0;
  for (size_t i = 0; i < sites.size(); ++i) pairs += begins_group(sites, i) ? sites[i].pairs : 0;
  return pairs;
}

uint64_t Learner::member_tokens(uint64_t tokens, std::span<const egg_site_sums> sums) const {
  uint64_t of_sites = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    of_sites += uint64_t{2} * sites[i].draws * sums[i].tokens;
    if (begins_group(sites, i)) tokens -= sums[i].tokens;
  }
  return tokens * train.members_per_stream + of_sites;
}

std::vector<float> Learner::vote_stds(const std::vector<int8_t>& fitness) const {
  return eggroll::vote_stds(fitness, program->params(), noise, voters);
}

uint64_t Learner::checkpoint_bytes() const {
  uint64_t bytes = uint64_t{train.population} * program->state_bytes();
  for (const egg_param& param : program->params()) {
    const uint64_t slots = param.perturbed != 0 ? rule->slots().size() : 0;
    bytes += weight_count(param) * (1 + slots * sizeof(uint32_t));
  }
  return bytes;
}

bool Learner::has_masks() const {
  return std::any_of(voters.begin(), voters.end(), [](const egg_voters& v) { return v.masked != 0; });
}

std::vector<uint32_t> Learner::group_pairs() const {
  std::vector<uint32_t> pairs;
  for (const uint32_t streams : group_streams) pairs.push_back(streams * (train.members_per_stream / 2));
  return pairs;
}

Dataset open_dataset_of(const ConfigNode& config) {
  return read_section(config, "dataset", [](Settings& s) { return open_dataset(s); });
}

TrainStreams train_streams_of(const Learner& learner, const Dataset& dataset) {
  const TrainSettings& train = learner.train;
  return {dataset, train.population / train.members_per_stream, train.tokens, learner.program->indices(),
          learner.group_streams};
}

void check_dataset_of(const ConfigNode& config) { read_section(config, "dataset", check_dataset); }

void check_section(const ConfigNode& config, const std::string& section) {
  constexpr int32_t kMostFixedPoint = 12;
  if (section == "optimizer" && config.find("optimizer.average") == nullptr) return;
  if (config.find(section) == nullptr) return;
  read_section(config, section, [&](Settings& s) {
    if (s.has("sigma_joint_shift")) s.integer("sigma_joint_shift", 0, 12);  // of noise, as earlier versions had it
    if (section == "train") read_train(s);
    if (section == "noise") read_noise(s, 0, kMostFixedPoint);
    if (section == "optimizer") read_average(s);
    if (section == "eval") read_eval(s, config.find("eval.hook"));
    if (section == "checkpoint") read_checkpoint(s);
    if (section == "stop") read_stop(s);
    if (section == "fitness") Fitness{s};
  });
}

SetupWithoutData::SetupWithoutData(const ConfigNode& config, const Registry& registry)
    : learner(config, registry),
      eval(read_section(config, "eval", [&](Settings& s) { return read_eval(s, config.find("eval.hook")); })),
      begin(begin_settings_of(config)),
      checkpoint(read_section(config, "checkpoint", read_checkpoint)),
      monitor(read_section(config, "monitor", read_monitor)),
      processes(read_section(config, "processes", read_processes)),
      stop(read_section(config, "stop", read_stop)),
      fitness(read_section(config, "fitness", [&](Settings& s) { return Fitness(s, learner.group_pairs()); })) {
  if (monitor.every > 0 && !learner.sites.empty()) {
    throw wrong(config.at("monitor.every").source(),
                "the monitor reads the fitness of pairs, and this run has sites; set monitor.every=0");
  }
  if (!begin || begin->step < learner.train.steps) return;
  throw wrong(config.at("train.steps").source(),
              fmt::format("train.steps is {}, and the run goes on from step {}, expected more; set train.steps",
                          learner.train.steps, begin->step));
}

namespace {

void require_use_of_warmup(const Setup& setup) {
  if (setup.eval.warmup == 0) return;
  const bool rows = setup.dataset.valid_row > 0;
  if (!rows && setup.learner.program->state_bytes() > 0) return;
  throw setting_error("eval.warmup",
                      fmt::format("eval.warmup is {}, but {}, expected 0; set eval.warmup=0", setup.eval.warmup,
                                  rows ? "each row of this dataset begins with a zero state"
                                       : "this model has no state that tokens before could fill"));
}

}  // namespace

Setup::Setup(const ConfigNode& config, const Registry& registry, const OpenDataset& open)
    : SetupWithoutData(config, registry),
      dataset(open(config)),
      streams(train_streams_of(learner, dataset)),
      curve_streams(held_out_streams(eval.tokens)),
      final_streams(held_out_streams(0)) {
  check_vocabulary(dataset, static_cast<uint32_t>(learner.program->view().vocab));
  require_use_of_warmup(*this);
}

HeldOutStreams Setup::held_out_streams(uint64_t limit) const {
  return {dataset, eval.streams, eval_tokens(*learner.program), limit, sample, learner.program->indices(), eval.warmup};
}

void Setup::fill_read(uint64_t step, BatchBuffer& batch) const {
  if (learner.has_masks()) streams.fill(step, batch);
}

void Setup::choose_sample(HeldOutSample chosen) {
  sample = chosen;
  curve_streams = held_out_streams(eval.tokens);
}

}  // namespace eggroll
