#include "train/beginning.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "system/files.h"
#include "train/identity.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string run;
  std::string checkpoint;
};

// A folder's name may hold an @ too.
Named split_name(const std::string& text) {
  const size_t sign = text.rfind('@');
  if (sign == std::string::npos || is_there(text)) return {text, "last"};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

void set(ConfigNode& section, const std::string& key, ConfigNode::Value value, const Source& source) {
  section.map().push_back({key, ConfigNode(std::move(value), source)});
}

// A hard link where the file system allows one, because a checkpoint's files never change; else a copy.
void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::create_hard_link(from, to, failure);
  if (failure) fs::copy_file(from, to, failure);
  if (failure) throw file_error("copy", from, failure.value());
}

fs::path initial_of(const RunFolder& folder) { return folder.path / "initial"; }

std::string shape_text(int32_t rows, int32_t cols) { return fmt::format("({}, {})", rows, cols); }

}  // namespace

RunFolder run_at(const fs::path& folder) {
  const RunFolder run{folder};
  if (is_there(run.config())) return run;
  throw Error(fmt::format("{} is no run, expected its folder with a config.yaml", folder.string()));
}

ConfigNode with_beginning(ConfigNode config, const FindRun& find) {
  ConfigNode* from = config.find("init.from");
  if (from == nullptr || from->kind() == ConfigNode::Kind::kNull) return config;
  ConfigNode& section = *config.find("init");
  if (section.find("sha256") != nullptr) return config;
  const Source source = from->source();
  try {
    const bool goes_on = config.at("init.continue").boolean();
    const Named named = split_name(scalar_text(*from));
    const std::string path = absolute_path(named.run);
    const RunFolder run = find(is_there(path) ? path : named.run);
    const fs::path checkpoint = choose_checkpoint(run, named.checkpoint, "the checkpoint that it names is");
    const CheckpointFacts facts = read_facts(checkpoint);
    *from = ConfigNode(fmt::format("{}@{}", absolute_path(run.path.string()), facts.step), source);
    set(section, "run", facts.identity.config_hash, source);
    set(section, "step", static_cast<int64_t>(goes_on ? facts.step : 0), source);
    set(section, "sha256", beginning_sha256(checkpoint, goes_on), source);
  } catch (const Error& error) {
    throw wrong(source, fmt::format("init.from: {}", error.what()));
  }
  return config;
}

void keep_beginning(const BeginSettings& begin, const RunFolder& folder) {
  const fs::path kept = initial_of(folder);
  if (is_there(kept)) return;
  const Named named = split_name(begin.from);
  const fs::path source = choose_checkpoint(RunFolder{named.run}, named.checkpoint, "the checkpoint that it names is");
  if (beginning_sha256(source, begin.goes_on) != begin.sha256) {
    throw Error(fmt::format("{} is not the checkpoint that this run was to begin with (sha256 {}); begin another run",
                            source.string(), begin.sha256));
  }
  const fs::path temporary = folder.path / ".tmp-initial";
  std::error_code failure;
  fs::remove_all(temporary, failure);
  create_folders(temporary);
  for (const fs::path& file : checkpoint_files(source)) link_or_copy(file, temporary / file.filename());
  fs::rename(temporary, kept, failure);
  if (failure) throw file_error("rename", temporary, failure.value());
  sync_folder(folder.path);
}

Checkpoint read_beginning(const BeginSettings& begin, const RunFolder& folder) {
  const fs::path kept = initial_of(folder);
  Checkpoint beginning = load_checkpoint(kept);
  if (beginning_sha256(kept, begin.goes_on) != begin.sha256) {
    throw Error(fmt::format("{} is not what this run began with, which has the sha256 {}; restore it from a copy",
                            kept.string(), begin.sha256));
  }
  if (!begin.goes_on) {
    Checkpoint weights;
    weights.weights = std::move(beginning.weights);
    return weights;
  }
  // The run evaluates its first weights itself.
  std::erase_if(beginning.evaluations, [&](const egg_evaluation& e) { return e.step >= beginning.step; });
  return beginning;
}

namespace {

void set_weights(BackendSession& session, const Learner& learner, const Checkpoint& beginning) {
  std::map<std::string, const WeightTensor*> tensors;
  for (const WeightTensor& tensor : beginning.weights) tensors[tensor.name] = &tensor;
  const std::vector<egg_param>& params = learner.program->params();
  for (uint32_t i = 0; i < params.size(); ++i) {
    const egg_param& param = params[i];
    const auto found = tensors.find(param.name);
    if (found == tensors.end()) {
      throw Error(
          fmt::format("init.from: the other run has no tensor '{}', which this model has; give this run the "
                      "other's model settings",
                      param.name));
    }
    const WeightTensor& tensor = *found->second;
    if (tensor.rows != param.rows || tensor.cols != param.cols) {
      throw Error(
          fmt::format("init.from: the tensor '{}' is {} in the other run, expected {}; give this run the other's "
                      "model settings",
                      param.name, shape_text(tensor.rows, tensor.cols), shape_text(param.rows, param.cols)));
    }
    session.set_weights(i, tensor.data.data());
    tensors.erase(found);
  }
  if (tensors.empty()) return;
  throw Error(
      fmt::format("init.from: the other run has a tensor '{}', which this model lacks; give this run the other's "
                  "model settings",
                  tensors.begin()->first));
}

}  // namespace

void begin_session(BackendSession& session, const Learner& learner, const Checkpoint& beginning,
                   const std::function<void(const std::string&)>& warn) {
  set_weights(session, learner, beginning);
  if (beginning.step == 0 && beginning.slots.empty() && beginning.states.empty()) return;
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
  const bool has_states = learner.program->state_bytes() > 0;
  if (beginning.population == learner.train.population && beginning.state_bytes == learner.program->state_bytes()) {
    session.set_states(session.first_member(), session.members(),
                       beginning.states.data() + session.first_member() * beginning.state_bytes);
  } else if (has_states) {
    tell("the members' states begin with zeros, because the population is another");
  }
}

}  // namespace eggroll
