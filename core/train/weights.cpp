#include "train/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>

#include "config/hash.h"
#include "data/baselines.h"
#include "record/environment.h"
#include "train/identity.h"

namespace eggroll {
namespace {

PluginRecord plugin_record(const ChosenPlugin& plugin) {
  PluginRecord record;
  record.kind = kind_name(*plugin.file.kind);
  record.name = plugin.file.name;
  record.version = plugin.file.version;
  record.build = plugin.file.build;
  record.sha256 = plugin.sha256;
  record.file = plugin.file.path.filename();
  if (*plugin.file.kind == EGG_KIND_BACKEND) record.chosen_because = plugin.reason;
  return record;
}

template <class Body>
void each_slot(const Machine& machine, Body&& body) {
  const std::vector<egg_param>& params = machine.program->params();
  for (uint32_t p = 0; p < params.size(); ++p) {
    if (params[p].perturbed == 0) continue;
    for (uint32_t s = 0; s < machine.rule->slots().size(); ++s) body(p, params[p], s, machine.rule->slots()[s]);
  }
}

std::string weight_name(const std::string& tensor) { return fmt::format("the tensor '{}'", tensor); }

// What no plugin may leave behind after a step.
struct Soundness {
  const Machine& machine;
  uint64_t step;

  // -128 is no weight and no value.
  void require(const std::string& what, const std::vector<int8_t>& values) const {
    const void* found = values.empty() ? nullptr : std::memchr(values.data(), 0x80, values.size());
    if (found == nullptr) return;
    throw Error(
        fmt::format("{} gave {} a -128 at position {} after {} steps, expected values from -127 to 127; use "
                    "another backend or correct the plugin (eggroll check finds the op)",
                    machine.backend->who(), what, static_cast<const int8_t*>(found) - values.data(), step));
  }

  void require(const std::string& param, const std::string& slot, char type, const std::vector<uint32_t>& bits) const {
    if (type != 'f') return;
    // An exponent of ones alone: infinity or no number. Counted, since that is done for many at once.
    constexpr uint32_t kExponent = 0x7f800000;
    const auto is_unsound = [](uint32_t b) { return (b & kExponent) == kExponent; };
    if (std::count_if(bits.begin(), bits.end(), is_unsound) == 0) return;
    const auto found = std::find_if(bits.begin(), bits.end(), is_unsound);
    throw Error(
        fmt::format("the rule of {} made the slot '{}' of tensor '{}' {} at position {} after {} steps, expected "
                    "finite numbers; guard its divisions or correct its settings",
                    machine.optimizer->who(), slot, param, std::bit_cast<float>(*found), found - bits.begin(), step));
  }
};

}  // namespace

RunIdentity identity_of(const Machine& machine, const ConfigNode& config, const RunFolder& folder) {
  return RunIdentity{hex64(EGG_SPEC_HASH), machine.program->hash(), machine.rule->hash(), hash_in(folder, config)};
}

std::vector<WeightTensor> read_weights(BackendSession& session, const Program& program) {
  std::vector<WeightTensor> weights;
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    const egg_param& param = program.params()[i];
    WeightTensor tensor{param.name, param.rows, param.cols, std::vector<int8_t>(weight_count(param))};
    session.get_weights(i, tensor.data.data());
    weights.push_back(std::move(tensor));
  }
  return weights;
}

Checkpoint capture_session(BackendSession& session, const Machine& machine, std::vector<int8_t> states) {
  Checkpoint checkpoint;
  checkpoint.weights = read_weights(session, *machine.program);
  each_slot(machine, [&](uint32_t p, const egg_param& param, uint32_t s, const egg_slot& slot) {
    SlotTensor tensor{param.name, slot.name, static_cast<char>(slot.type), std::vector<uint32_t>(weight_count(param))};
    session.get_slot(p, s, tensor.bits.data());
    checkpoint.slots.push_back(std::move(tensor));
  });
  checkpoint.population = machine.train.population;
  checkpoint.state_bytes = machine.program->state_bytes();
  checkpoint.states = std::move(states);
  return checkpoint;
}

void restore_session(BackendSession& session, const Machine& machine, const Checkpoint& checkpoint) {
  const std::vector<egg_param>& params = machine.program->params();
  const auto foreign = [] {
    return Error(
        "the checkpoint's tensors are not this program's and rule's; use the checkpoint with the run it is of");
  };
  if (checkpoint.weights.size() != params.size() || checkpoint.population != machine.train.population ||
      checkpoint.state_bytes != machine.program->state_bytes()) {
    throw foreign();
  }
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (checkpoint.weights[i].data.size() != weight_count(params[i])) throw foreign();
    session.set_weights(i, checkpoint.weights[i].data.data());
  }
  size_t next = 0;
  each_slot(machine, [&](uint32_t p, const egg_param& param, uint32_t s, const egg_slot&) {
    if (next >= checkpoint.slots.size() || checkpoint.slots[next].bits.size() != weight_count(param)) throw foreign();
    session.set_slot(p, s, checkpoint.slots[next++].bits.data());
  });
  session.set_states(session.first_member(), session.members(),
                     checkpoint.states.data() + session.first_member() * checkpoint.state_bytes);
}

void require_sound(const Checkpoint& captured, const Machine& machine, uint64_t step) {
  const Soundness sound{machine, step};
  for (const WeightTensor& weight : captured.weights) sound.require(weight_name(weight.name), weight.data);
  sound.require("the states", captured.states);
  for (const SlotTensor& slot : captured.slots) sound.require(slot.param, slot.slot, slot.type, slot.bits);
}

void require_sound(BackendSession& session, const Machine& machine, uint64_t step) {
  const Soundness sound{machine, step};
  const std::vector<egg_param>& params = machine.program->params();
  std::vector<int8_t> weights;
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (weight_count(params[i]) > kQuickWeights) continue;
    weights.resize(weight_count(params[i]));
    session.get_weights(i, weights.data());
    sound.require(weight_name(params[i].name), weights);
  }
  std::vector<uint32_t> bits;
  each_slot(machine, [&](uint32_t p, const egg_param& param, uint32_t s, const egg_slot& slot) {
    if (slot.type != 'f' || weight_count(param) > kQuickWeights) return;
    bits.resize(weight_count(param));
    session.get_slot(p, s, bits.data());
    sound.require(param.name, slot.name, 'f', bits);
  });
}

void require_same_data(const Setup& setup, const RunFolder& folder) {
  if (!std::filesystem::exists(folder.record())) return;
  const RunRecord earlier = read_record(folder.record());
  if (earlier.dataset) require_same_data(setup, folder, earlier.dataset->sha256);
}

void require_same_data(const Setup& setup, const RunFolder& folder, const std::string& begun_with) {
  if (begun_with.empty() || begun_with == setup.dataset.sha256) return;
  throw Error(
      fmt::format("the data have changed since the run in {} began (sha256 {}, then {}); restore them, name them where "
                  "they are now (eggroll resume --data FILE), or remove the folder to begin anew",
                  folder.path.string(), setup.dataset.sha256, begun_with));
}

RunRecord new_record(const Setup& setup, const ConfigNode& config, const Invocation& invocation,
                     const RunIdentity& identity, const SessionPlan& plan, const Ranks& ranks) {
  RunRecord record;
  record.name = setup.machine.name;
  record.started_utc = utc_now();
  record.config_hash = identity.config_hash;
  record.config = to_json(config);
  record.overrides = invocation.overrides;
  record.command_line = invocation.command_line;
  record.sweep = invocation.sweep;
  record.environment = capture_environment();
  record.device = plan.device;
  record.plan = plan.plan;
  record.memory_bytes = plan.memory;
  for (const ChosenPlugin& plugin : setup.machine.plugins) record.plugins.push_back(plugin_record(plugin));
  if (!ranks.alone()) {
    record.plugins.push_back(plugin_record(*ranks.plugin()));
    record.ranks = RanksRecord{ranks.size(), 0, {}};
  }
  record.program_hash = identity.program_hash;
  record.rule_hash = identity.rule_hash;
  record.threads =
      setup.machine.threads > 0 ? static_cast<uint32_t>(setup.machine.threads) : std::thread::hardware_concurrency();
  record.seed = setup.machine.seed;
  DatasetRecord dataset{setup.dataset.name, setup.dataset.sha256, setup.dataset.unit, {}, setup.dataset.facts};
  dataset.sizes = {{"train", setup.dataset.units(setup.dataset.train)},
                   {"held_out", setup.dataset.units(setup.dataset.valid)}};
  record.dataset = dataset;
  const Baselines baselines = measure_baselines(setup.dataset);
  record.baselines = {baselines.unigram, baselines.bigram, baselines.gzip};
  return record;
}

}  // namespace eggroll
