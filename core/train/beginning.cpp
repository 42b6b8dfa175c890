#include "train/beginning.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "config/hash.h"
#include "system/files.h"
#include "train/identity.h"
#include "train/kept_checkpoints.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

void set(ConfigNode& section, const std::string& key, ConfigNode::Value value, const Source& source) {
  section.map().push_back({key, ConfigNode(std::move(value), source)});
}

// A hard link where the file system allows one, because a checkpoint's files never change; else a copy.
void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::create_hard_link(from, to, failure);
  if (failure) copy_to_disk(from, to);
}

fs::path initial_of(const RunFolder& folder) { return folder.path / "initial"; }

constexpr const char* kInitialCure = "restore that folder from a copy";

// The other run's checkpoint, as with_beginning() named it.
fs::path source_of(const BeginSettings& begin) {
  const NamedCheckpoint named = split_name(begin.from);
  return choose_checkpoint(run_at(named.run), named.checkpoint, "the checkpoint that it names is");
}

Error another(const fs::path& source, const BeginSettings& begin) {
  return Error(fmt::format("{} is not the checkpoint that this run was to begin with (sha256 {}); begin another run",
                           source.string(), begin.sha256));
}

bool needs_beginning(const RunFolder& folder) {
  return !is_there(initial_of(folder)) && !latest_checkpoint(folder.path);
}

// Whether both have the same at each of these paths, except for some keys below them.
bool are_equal(const ConfigNode& a, const ConfigNode& b, const std::vector<std::string>& paths,
               const std::vector<std::string>& but_for = {}) {
  const auto value_of = [&](const ConfigNode& config, const std::string& path) {
    const ConfigNode* node = config.find(path);
    nlohmann::ordered_json json = node != nullptr ? to_json(*node) : nlohmann::ordered_json();
    for (const std::string& key : but_for) {
      if (json.is_object()) json.erase(key);
    }
    return json;
  };
  return std::all_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return value_of(a, path) == value_of(b, path); });
}

void require_states(const Learner& learner, const Checkpoint& beginning) {
  const uint64_t bytes = learner.program->state_bytes();
  const bool fit = beginning.population == learner.train.population && beginning.state_bytes == bytes &&
                   beginning.states.size() == learner.train.population * bytes;
  if (beginning.states.empty() || fit) return;
  throw Error(
      fmt::format("init.from: the states in the checkpoint are of {} members with {} bytes each, expected {} with "
                  "{}; begin with the weights alone: init.continue=false",
                  beginning.population, beginning.state_bytes, learner.train.population, bytes));
}

std::string shape_text(int32_t rows, int32_t cols) { return fmt::format("({}, {})", rows, cols); }

// Calls take(number of the parameter, its tensor) for each parameter.
template <class Take>
void each_tensor(const Program& program, const Checkpoint& beginning, Take&& take) {
  std::map<std::string, const WeightTensor*> tensors;
  for (const WeightTensor& tensor : beginning.weights) tensors[tensor.name] = &tensor;
  constexpr const char* kCure = "give this run the other's model settings";
  const std::vector<egg_param>& params = program.params();
  for (uint32_t i = 0; i < params.size(); ++i) {
    const egg_param& param = params[i];
    const auto found = tensors.find(param.name);
    if (found == tensors.end()) {
      throw Error(
          fmt::format("init.from: the other run has no tensor '{}', which this model has; {}", param.name, kCure));
    }
    const WeightTensor& tensor = *found->second;
    if (tensor.rows != param.rows || tensor.cols != param.cols) {
      throw Error(fmt::format("init.from: the tensor '{}' is {} in the other run, expected {}; {}", param.name,
                              shape_text(tensor.rows, tensor.cols), shape_text(param.rows, param.cols), kCure));
    }
    take(i, tensor);
    tensors.erase(found);
  }
  if (tensors.empty()) return;
  throw Error(fmt::format("init.from: the other run has a tensor '{}', which this model lacks; {}",
                          tensors.begin()->first, kCure));
}

}  // namespace

// A folder's name may hold an @ too.
NamedCheckpoint split_name(const std::string& text) {
  const size_t sign = text.rfind('@');
  if (sign == std::string::npos || is_there(text)) return {text, "end"};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

RunFolder run_at(const fs::path& folder) {
  const RunFolder run{folder};
  if (is_run(run)) return run;
  throw Error(fmt::format(
      "{} is no run, expected its folder with a config.yaml, and a record.json or the lock that a run has held",
      folder.string()));
}

ConfigNode with_beginning(ConfigNode config, const FindRun& find) {
  ConfigNode* from = config.find("init.from");
  if (from == nullptr || from->kind() == ConfigNode::Kind::kNull) return config;
  ConfigNode& section = *config.find("init");
  if (section.find("sha256") != nullptr) return config;
  const Source source = from->source();
  if (from->kind() != ConfigNode::Kind::kText) {
    throw wrong(source,
                fmt::format("init.from is {}, expected the name of a run; write RUN@last, so that it is no number",
                            shown_value(*from)));
  }
  try {
    const bool goes_on = config.at("init.continue").boolean();
    const NamedCheckpoint named = split_name(from->text());
    const std::string path = absolute_path(named.run);
    const RunFolder run = find(is_there(path) ? path : named.run);
    const fs::path checkpoint = choose_checkpoint(run, named.checkpoint, "the checkpoint that it names is");
    const CheckpointFacts facts = read_facts(checkpoint);
    *from = ConfigNode(fmt::format("{}@{}", absolute_path(run.path.string()), facts.step), source);
    set(section, "run", facts.identity.config_hash, source);
    set(section, "step", static_cast<int64_t>(goes_on ? facts.step : 0), source);
    const ConfigNode other = read_config(run);
    const bool same_data = goes_on && are_equal(config, other, {"dataset"}, kDataFiles);
    set(section, "states",
        same_data && are_equal(config, other, {"train.population", "train.members_per_stream", "train.tokens"}),
        source);
    std::vector<std::string> but_for = kHookKeys;
    but_for.emplace_back("every");
    set(section, "evaluations", same_data && are_equal(config, other, {"eval"}, but_for), source);
    set(section, "sha256", beginning_sha256(checkpoint, goes_on), source);
  } catch (const Error& error) {
    throw wrong(source, fmt::format("init.from: {}", error.what()));
  }
  return config;
}

void keep_beginning(const BeginSettings& begin, const RunFolder& folder) {
  if (!needs_beginning(folder)) return;
  const fs::path source = source_of(begin);
  const fs::path kept = initial_of(folder);
  const fs::path temporary = folder.path / ".tmp-initial";
  std::error_code failure;
  fs::remove_all(temporary, failure);
  create_folders(temporary);
  for (const fs::path& file : checkpoint_files(source)) link_or_copy(file, temporary / file.filename());
  sync_folder(temporary);
  if (beginning_sha256(temporary, begin.goes_on) != begin.sha256) throw another(source, begin);
  fs::rename(temporary, kept, failure);
  if (failure) throw file_error("rename", temporary, failure.value());
  sync_folder(folder.path);
}

Checkpoint read_beginning(const BeginSettings& begin, const RunFolder& folder) {
  const fs::path kept = initial_of(folder);
  Checkpoint beginning = load_checkpoint(kept, kInitialCure);
  if (beginning_sha256(kept, begin.goes_on) != begin.sha256) {
    throw Error(fmt::format("{} is not what this run began with, which has the sha256 {}; {}", kept.string(),
                            begin.sha256, kInitialCure));
  }
  if (!begin.goes_on) {
    Checkpoint weights;
    weights.weights = std::move(beginning.weights);
    return weights;
  }
  if (!begin.states) beginning.states.clear();
  if (!begin.evaluations) beginning.evaluations.clear();
  // The run evaluates its first weights itself.
  std::erase_if(beginning.evaluations, [&](const egg_evaluation& e) { return e.step >= beginning.step; });
  return beginning;
}

void require_beginning(const Setup& setup, const RunFolder& folder) {
  if (!needs_beginning(folder)) return;
  const BeginSettings& begin = *setup.begin;
  const fs::path source = source_of(begin);
  const Checkpoint beginning = load_checkpoint(source);
  if (beginning_sha256(source, begin.goes_on) != begin.sha256) throw another(source, begin);
  each_tensor(*setup.learner.program, beginning, [](uint32_t, const WeightTensor&) {});
  if (begin.states) require_states(setup.learner, beginning);
  if (!begin.goes_on || beginning.data_sha256 == setup.dataset.sha256) return;
  throw Error(
      fmt::format("init.continue goes on from a run with other data (sha256 {}, this run's {}); name the same "
                  "files (of generated data the same dataset.seed), or begin with its weights alone: eggroll run "
                  "init.from=RUN",
                  beginning.data_sha256, setup.dataset.sha256));
}

void begin_session(BackendSession& session, const Learner& learner, const Checkpoint& beginning,
                   const std::function<void(const std::string&)>& warn) {
  each_tensor(*learner.program, beginning,
              [&](uint32_t i, const WeightTensor& tensor) { session.set_weights(i, tensor.data.data()); });
  if (beginning.step == 0 && beginning.slots.empty()) return;
  const auto tell = [&](const std::string& text) {
    if (warn) warn(text);
  };
  std::set<std::string> new_slots;
  std::set<std::string> left;
  for (const SlotTensor& slot : beginning.slots) left.insert(slot.slot);
  const std::vector<egg_param>& params = learner.program->params();
  const std::vector<egg_slot>& slots = learner.rule->slots();
  for (uint32_t p = 0; p < params.size(); ++p) {
    if (params[p].perturbed == 0) continue;
    for (uint32_t s = 0; s < slots.size(); ++s) {
      const auto found = std::find_if(beginning.slots.begin(), beginning.slots.end(), [&](const SlotTensor& slot) {
        return slot.param == params[p].name && slot.slot == slots[s].name && slot.type == slots[s].type &&
               slot.bits.size() == weight_count(params[p]);
      });
      if (found == beginning.slots.end()) {
        new_slots.insert(slots[s].name);
      } else {
        session.set_slot(p, s, found->bits.data());
        left.erase(slots[s].name);
      }
    }
  }
  for (const std::string& name : new_slots) tell(fmt::format("the optimizer's slot '{}' begins with zeros", name));
  for (const std::string& name : left) tell(fmt::format("the other run's slot '{}' is left behind", name));
  if (learner.program->state_bytes() == 0) return;
  if (beginning.states.empty()) return tell("the members' states begin with zeros, because they read other tokens");
  require_states(learner, beginning);
  session.set_states(session.first_member(), session.members(),
                     beginning.states.data() + session.first_member() * beginning.state_bytes);
}

}  // namespace eggroll
