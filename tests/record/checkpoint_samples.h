// Checkpoints to save, and the folder of a run that keeps them.
#ifndef EGGROLL_TESTS_CHECKPOINT_SAMPLES_H
#define EGGROLL_TESTS_CHECKPOINT_SAMPLES_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "record/scratch.h"
#include "support/whole_checkpoint.h"
#include "train/checkpoint.h"

namespace eggroll {

class CheckpointTest : public ScratchTest {
 protected:
  std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }

  std::string names() const {
    std::vector<std::string> list;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints()))
      list.push_back(entry.path().filename());
    std::sort(list.begin(), list.end());
    std::string text;
    for (const std::string& name : list) text += (text.empty() ? "" : " ") + name;
    return text;
  }
};

inline Checkpoint sample(uint64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.identity = {"00000000000000aa", "00000000000000bb", "00000000000000cc", std::string(64, 'd')};
  checkpoint.weights = {{"z.first", 2, 3, {1, -2, 3, -127, 127, 0}},
                        {"a.second", 2, 1, {static_cast<int8_t>(step % 100), 9}}};
  checkpoint.slots = {{"z.first", "residual", 'i', {1, 2, 3, 4, 5, 0xffffffff}},
                      {"z.first", "moment", 'f', {0x3f800000, 0, 0x80000000, 0x7f7fffff, 1, 2}}};
  checkpoint.population = 4;
  checkpoint.state_bytes = 2;
  checkpoint.states = {1, 2, 3, 4, -5, -6, -7, 127};
  checkpoint.evaluations = {{0, int64_t{1} << 50, 777}, {step, 5, std::numeric_limits<uint64_t>::max()}};
  checkpoint.data_sha256 = std::string(64, 'e');
  checkpoint.counters = {{"member_tokens", 1234567890123}, {"seconds", 1.5}};
  return checkpoint;
}

inline void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.identity.spec_hash, b.identity.spec_hash);
  EXPECT_EQ(a.identity.program_hash, b.identity.program_hash);
  EXPECT_EQ(a.identity.rule_hash, b.identity.rule_hash);
  EXPECT_EQ(a.identity.config_hash, b.identity.config_hash);
  ASSERT_EQ(a.weights.size(), b.weights.size());
  for (size_t i = 0; i < a.weights.size(); ++i) {
    EXPECT_EQ(a.weights[i].name, b.weights[i].name);
    EXPECT_EQ(a.weights[i].rows, b.weights[i].rows);
    EXPECT_EQ(a.weights[i].cols, b.weights[i].cols);
    EXPECT_EQ(a.weights[i].data, b.weights[i].data);
  }
  ASSERT_EQ(a.slots.size(), b.slots.size());
  for (size_t i = 0; i < a.slots.size(); ++i) {
    EXPECT_EQ(a.slots[i].param, b.slots[i].param);
    EXPECT_EQ(a.slots[i].slot, b.slots[i].slot);
    EXPECT_EQ(a.slots[i].type, b.slots[i].type);
    EXPECT_EQ(a.slots[i].bits, b.slots[i].bits);
  }
  EXPECT_EQ(a.population, b.population);
  EXPECT_EQ(a.state_bytes, b.state_bytes);
  EXPECT_EQ(a.states, b.states);
  ASSERT_EQ(a.evaluations.size(), b.evaluations.size());
  for (size_t i = 0; i < a.evaluations.size(); ++i) {
    EXPECT_EQ(a.evaluations[i].step, b.evaluations[i].step);
    EXPECT_EQ(a.evaluations[i].loss, b.evaluations[i].loss);
    EXPECT_EQ(a.evaluations[i].tokens, b.evaluations[i].tokens);
  }
  EXPECT_EQ(a.data_sha256, b.data_sha256);
  EXPECT_EQ(a.counters, b.counters);
}

}  // namespace eggroll

#endif
