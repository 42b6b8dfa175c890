// A run of milliseconds: an eight-wide GRU that reads a random chain, eight pairs, six steps.
#ifndef EGGROLL_TESTS_TRAIN_SMALL_RUN_H
#define EGGROLL_TESTS_TRAIN_SMALL_RUN_H

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings_block.h"
#include "record/metrics.h"
#include "record/scratch.h"
#include "support/host.h"
#include "train/checkpoint.h"
#include "train/kept_checkpoints.h"
#include "train/session_io.h"
#include "train/trainer.h"

namespace eggroll::test {

inline ConfigNode small_config(const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides = {"experiment=markov",
                                        "model.logit_tables=[]",
                                        "model.width=8",
                                        "dataset.tokens=999",
                                        "dataset.valid_tokens=99",
                                        "train.population=16",
                                        "train.members_per_stream=4",
                                        "train.tokens=8",
                                        "train.steps=6",
                                        "checkpoint.every=2",
                                        "checkpoint.keep=100",
                                        "eval.every=2",
                                        "eval.tokens=32",
                                        "optimizer.schedule.inverse_time.decay=20",
                                        "backend=reference",
                                        "backend.threads=1",
                                        "fitness=zscore",
                                        "noise.sigma_shift=3",
                                        "noise.sigma_vector_shift=3"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return repository_config(overrides);
}

// Runs, or goes on, in the folder.
inline RunRecord run_in(const std::filesystem::path& folder, const ConfigNode& config, const TrainHooks& hooks = {}) {
  Setup setup(config, built_plugins());
  Processes alone;
  return train(setup, config, RunFolder{folder}, Invocation{}, hooks, alone);
}

// All that a checkpoint would hold of the session's tensors.
inline Checkpoint captured(BackendSession& session, const Learner& learner) {
  Checkpoint checkpoint;
  checkpoint.population = learner.train.population;
  checkpoint.state_bytes = learner.program->state_bytes();
  checkpoint.states.resize(checkpoint.population * checkpoint.state_bytes);
  session.get_states(0, learner.train.population, checkpoint.states.data());
  const SessionTensors source(session, learner, checkpoint.states, 0);
  for (const TensorSource& tensor : source.tensors().weights) {
    const std::string_view data = tensor.read();
    checkpoint.weights.push_back({tensor.name,
                                  static_cast<int32_t>(tensor.shape[0]),
                                  static_cast<int32_t>(tensor.shape[1]),
                                  {data.begin(), data.end()}});
  }
  for (const TensorSource& tensor : source.tensors().slots) {
    const std::string_view data = tensor.read();
    const size_t slash = tensor.name.rfind('/');
    std::vector<uint32_t> bits(data.size() / sizeof(uint32_t));
    std::memcpy(bits.data(), data.data(), data.size());
    checkpoint.slots.push_back({tensor.name.substr(0, slash), tensor.name.substr(slash + 1),
                                tensor.type == TensorType::kF32 ? 'f' : 'i', std::move(bits)});
  }
  return checkpoint;
}

// Runs side by side, each in a folder of its own.
class SmallRunTest : public ScratchTest {
 protected:
  std::filesystem::path fresh(const std::string& name) {
    std::filesystem::create_directory(folder_ / name);
    return folder_ / name;
  }

  // Stops after `step` steps done, at 0 before the first.
  static RunRecord run_until(const std::filesystem::path& folder, const ConfigNode& config, uint64_t step) {
    std::atomic<bool> stop{step == 0};
    TrainHooks hooks;
    hooks.progress = [&](const Progress& progress) { stop = progress.done.step >= step; };
    hooks.stop = &stop;
    return run_in(folder, config, hooks);
  }
};

// Runs of the small configuration.
class TrainerTest : public SmallRunTest {
 protected:
  static std::vector<uint64_t> steps_in(const std::filesystem::path& folder) {
    std::vector<uint64_t> steps;
    for (const auto& line : read_metrics(RunFolder{folder}.metrics())) steps.push_back(line.at("step"));
    return steps;
  }

  const ConfigNode config_ = small_config();
  const std::vector<uint64_t> all_steps_ = {0, 1, 2, 3, 4, 5, 6};
};

inline Fitness fitness_of(const std::string& name, const std::string& key = "", double value = 0.0) {
  std::vector<egg_setting> items = {{"name", EGG_SETTING_TEXT, 0, 0, 0.0, name.c_str()}};
  if (!key.empty()) items.push_back({key.c_str(), EGG_SETTING_REAL, 0, 0, value, nullptr});
  const egg_settings view{sizeof(egg_settings), static_cast<uint32_t>(items.size()), items.data()};
  Settings settings(&view);
  return Fitness(settings);
}

// A fitness form with its settings of configs/, which compares groups of this number of pairs.
inline Fitness fitness_within(const std::string& name, const std::vector<uint32_t>& group_pairs) {
  const SettingsBlock block(repository_config({"fitness=" + name}), "fitness");
  Settings settings(block.view());
  return Fitness(settings, group_pairs);
}

// Every form of fitness, with its settings of configs/.
inline std::vector<Fitness> all_fitness_forms() {
  std::vector<Fitness> forms;
  for (const std::string& name : fitness_form_names()) forms.push_back(fitness_within(name, {}));
  return forms;
}

}  // namespace eggroll::test

#endif
