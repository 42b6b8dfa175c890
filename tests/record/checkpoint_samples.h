// Checkpoints to save, and the folder of a run that keeps them.
#ifndef EGGROLL_TESTS_CHECKPOINT_SAMPLES_H
#define EGGROLL_TESTS_CHECKPOINT_SAMPLES_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <tuple>
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
  const auto expect_each = [](const auto& of_a, const auto& of_b, const auto& members) {
    ASSERT_EQ(of_a.size(), of_b.size());
    for (size_t i = 0; i < of_a.size(); ++i) EXPECT_EQ(members(of_a[i]), members(of_b[i])) << i;
  };
  const auto hashes = [](const RunIdentity& id) {
    return std::tie(id.spec_hash, id.program_hash, id.rule_hash, id.config_hash);
  };
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(hashes(a.identity), hashes(b.identity));
  expect_each(a.weights, b.weights, [](const WeightTensor& w) { return std::tie(w.name, w.rows, w.cols, w.data); });
  expect_each(a.slots, b.slots, [](const SlotTensor& s) { return std::tie(s.param, s.slot, s.type, s.bits); });
  EXPECT_EQ(a.population, b.population);
  EXPECT_EQ(a.state_bytes, b.state_bytes);
  EXPECT_EQ(a.states, b.states);
  expect_each(a.evaluations, b.evaluations, [](const egg_evaluation& e) { return std::tie(e.step, e.loss, e.tokens); });
  EXPECT_EQ(a.data_sha256, b.data_sha256);
  EXPECT_EQ(a.counters, b.counters);
}

}  // namespace eggroll

#endif
