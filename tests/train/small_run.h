// A run of milliseconds: an eight-wide GRU that reads a random chain, eight pairs, six steps.
#ifndef EGGROLL_TESTS_TRAIN_SMALL_RUN_H
#define EGGROLL_TESTS_TRAIN_SMALL_RUN_H

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings_block.h"
#include "record/metrics.h"
#include "record/scratch.h"
#include "support/host.h"
#include "support/words.h"
#include "train/checkpoint.h"
#include "train/kept_checkpoints.h"
#include "train/replay.h"
#include "train/session_io.h"
#include "train/trainer.h"

namespace eggroll::test {

// A model of width 8, with four streams of four members.
inline const std::vector<std::string> kSmall = {"model.width=8",    "train.population=16", "train.members_per_stream=4",
                                                "train.tokens=8",   "train.steps=6",       "checkpoint.every=2",
                                                "eval.every=2",     "eval.tokens=32",      "backend=reference",
                                                "backend.threads=1"};

inline ConfigNode small_config(const std::vector<std::string>& more = {}) {
  const std::vector<std::string> chain = {
      "experiment=markov",       "model.logit_tables=[]",      "dataset.tokens=999",
      "dataset.valid_tokens=99", "checkpoint.keep=100",        "fitness=zscore",
      "noise.sigma_shift=3",     "noise.sigma_vector_shift=3", "optimizer.schedule.inverse_time.decay=20"};
  return repository_config(joined(joined(chain, kSmall), more));
}

// A small run on a file of bytes from 0 to 10, as tokens.
inline ConfigNode small_config_of_tokens(const std::filesystem::path& file, const std::vector<std::string>& more = {}) {
  return repository_config(joined(
      joined({"dataset=tokens", "dataset.dtype=uint8", "dataset.path=" + file.string(), "model.vocab=11"}, kSmall),
      more));
}
inline std::string tokens_below_11(size_t count) {
  Draws draws(7);
  std::string tokens;
  while (tokens.size() < count) tokens += static_cast<char>(draws.below(11));
  return tokens;
}

// Begins or resumes the run in the folder.
inline RunRecord run_in(const std::filesystem::path& folder, const ConfigNode& config, const TrainHooks& hooks = {}) {
  Setup setup(config, built_plugins());
  Processes alone;
  return TrainingLoop(setup, config, RunFolder{folder}, Invocation{}, hooks, alone).run();
}

// The session's tensors as a checkpoint holds them.
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

// The lines of metrics.jsonl without times and seals.
inline std::vector<std::string> untimed_lines(const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  for (nlohmann::ordered_json line : read_metrics(RunFolder{folder}.metrics())) {
    for (const char* time : {"forward_seconds", "update_seconds", "step_seconds"}) line.erase(time);
    lines.push_back(line.dump());
  }
  return lines;
}

inline void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(weights_sha256(a.weights), weights_sha256(b.weights));
  ASSERT_EQ(a.slots.size(), b.slots.size());
  for (size_t i = 0; i < a.slots.size(); ++i) {
    EXPECT_EQ(a.slots[i].param + "/" + a.slots[i].slot, b.slots[i].param + "/" + b.slots[i].slot);
    EXPECT_EQ(a.slots[i].type, b.slots[i].type);
    EXPECT_EQ(a.slots[i].bits, b.slots[i].bits) << a.slots[i].param;
  }
  EXPECT_EQ(a.states, b.states);
}

// Expects the same last checkpoint, journal, lines of all steps and record in both folders.
inline void expect_same_run(const std::filesystem::path& folder, const std::filesystem::path& other) {
  SCOPED_TRACE(folder.string());
  expect_equal(load_checkpoint(*latest_checkpoint(folder)), load_checkpoint(*latest_checkpoint(other)));
  EXPECT_EQ(read_file(RunFolder{folder}.journal()), read_file(RunFolder{other}.journal()));
  EXPECT_EQ(untimed_lines(folder), untimed_lines(other));
  const auto record = record_to_json(read_record(RunFolder{folder}.record()));
  const auto expected = record_to_json(read_record(RunFolder{other}.record()));
  for (const char* key : {"status", "error", "steps", "member_tokens", "unique_tokens", "weights_sha256", "newest",
                          "best", "final", "average", "config_hash", "stopped_because"}) {
    EXPECT_EQ(record.value(key, nlohmann::ordered_json()), expected.value(key, nlohmann::ordered_json())) << key;
  }
}

inline std::string replayed_sha256(const std::filesystem::path& folder, const ConfigNode& config, uint64_t steps = 0) {
  const Learner learner(config, built_plugins());
  return weights_sha256(replay(learner, config, RunFolder{folder}, steps).weights);
}

// Runs side by side, each in a folder of its own.
class SmallRunTest : public ScratchTest {
 protected:
  std::filesystem::path fresh(const std::string& name) {
    std::filesystem::create_directory(folder_ / name);
    return folder_ / name;
  }

  // Stops after `step` steps; 0: before the first step.
  static RunRecord run_until(const std::filesystem::path& folder, const ConfigNode& config, uint64_t step) {
    std::atomic<bool> stop{step == 0};
    TrainHooks hooks;
    hooks.progress = [&](const Progress& progress) { stop = progress.done.step >= step; };
    hooks.stop = &stop;
    return run_in(folder, config, hooks);
  }

  // Throws what fail() throws, after `step` steps. A run that fails leaves its last checkpoint and a longer journal,
  // as a killed run does.
  static void fail_at(
      const std::filesystem::path& folder, const ConfigNode& config, uint64_t step,
      const std::function<void()>& fail = [] { throw Error("the disk is full; free some space"); }) {
    TrainHooks hooks;
    hooks.progress = [&](const Progress& progress) {
      if (progress.done.step == step) fail();
    };
    EXPECT_THROW(run_in(folder, config, hooks), std::exception);
  }

  static std::vector<uint64_t> steps_in(const std::filesystem::path& folder) {
    std::vector<uint64_t> steps;
    for (const auto& line : read_metrics(RunFolder{folder}.metrics())) steps.push_back(line.at("step"));
    return steps;
  }

  // A run that ended in any way goes on to the same result, and its journal gives all its checkpoints again.
  // settings: those of a small run of six steps.
  void expect_goes_on(const std::vector<std::string>& settings, bool at_every_step = false);
};

// Runs of the small configuration.
class TrainerTest : public SmallRunTest {
 protected:
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
