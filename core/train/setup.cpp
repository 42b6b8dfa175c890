#include "train/setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/host_settings.h"
#include "program/average.h"
#include "program/initial_weights.h"
#include "train/noise_settings.h"
#include "train/voting.h"

namespace eggroll {
namespace {

// Sections that other code reads, with their keys.
const std::vector<std::pair<std::string, std::vector<std::string>>> kHostKeys = {{"plugins", {"path"}},
                                                                                 {"results", {"dir", "sweeps"}}};

// The most tokens that a held-out stream reads per call of the backend: the model's whole context, if it has one.
uint32_t eval_tokens(const Program& program) {
  const int32_t context = program.view().context;
  return context > 0 ? static_cast<uint32_t>(context) : 64;
}

// A step is one call of the backend, so it reads at most the model's context.
void require_context(const TrainSettings& train, const Program& program) {
  const int32_t context = program.view().context;
  if (context == 0 || train.tokens <= static_cast<uint32_t>(context)) return;
  throw setting_error("tokens",
                      fmt::format("tokens is {}, expected at most {}, the context of the model; use fewer, or "
                                  "a larger context of the model",
                                  train.tokens, context));
}

// Opens the plugin that a section's `name` chooses. The rest of the section is the plugin's settings.
template <class Instance>
std::unique_ptr<Instance> open_plugin_of(const ConfigNode& config, const std::string& section, egg_kind kind,
                                         const Registry& registry, const std::vector<std::string>& host_keys,
                                         std::vector<ChosenPlugin>& chosen) {
  return read_section(config, section, [&](Settings& s) {
    const std::string name = s.text("name");
    const SettingsBlock own(config, section, host_keys);
    chosen.push_back(registry.choose(kind, name));
    return std::make_unique<Instance>(chosen.back(), *own.view());
  });
}

// Reads `name`, which becomes part of a folder's name.
std::string read_name(Settings& s) {
  std::string name = s.text("name");
  const bool safe =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
  // Commands would take a folder's name that begins with - for an option.
  if (name.empty() || name.size() > 80 || !safe || name[0] == '-') {
    throw setting_error(
        "name", fmt::format("name is '{}', expected 1 to 80 letters, digits, _ and -, with no - in front", name));
  }
  return name;
}

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
    seed = HostSection(s, "").whole<uint64_t>("seed");
    name = read_name(s);
    s.finish();
  });
  train = train_settings_of(config);
  threads =
      read_section(config, "backend", [](Settings& s) { return HostSection(s, "backend").whole<int32_t>("threads"); });

  model = open_plugin_of<ModelInstance>(config, "model", EGG_KIND_MODEL, registry, kModelHostKeys, plugins);
  optimizer =
      open_plugin_of<OptimizerInstance>(config, "optimizer", EGG_KIND_OPTIMIZER, registry, kOptimizerHostKeys, plugins);
  program = std::make_unique<Program>(model->program());
  read_section(config, "optimizer", [&](Settings& s) {
    if (config.find("optimizer.average") != nullptr) average = HostSection(s, "optimizer").real_or_none("average");
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

// The sites of one group are next to each other and share its streams.
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

SetupWithoutData::SetupWithoutData(const ConfigNode& config, const Registry& registry)
    : learner(config, registry),
      eval(eval_settings_of(config)),
      begin(begin_settings_of(config)),
      checkpoint(checkpoint_settings_of(config)),
      monitor(monitor_settings_of(config)),
      processes(processes_settings_of(config)),
      stop(stop_settings_of(config)),
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
  return {dataset, eval.streams, eval_tokens(*learner.program), limit, learner.program->indices(), eval.warmup};
}

void Setup::fill_read(uint64_t step, BatchBuffer& batch) const {
  if (learner.has_masks()) streams.fill(step, batch);
}

}  // namespace eggroll
