// Replicas of the cuda backend on one GPU: the memory that they take, and the checksum that tells them apart.
#include "replica.h"
#include "gpu_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "against_reference.h"
#include "session.h"

namespace eggroll::cuda {
namespace {

class ReplicaTest : public GpuTest {
 protected:
  // Opens a replica on the first GPU, with the initial weights.
  std::unique_ptr<Replica> open() const {
    auto replica = std::make_unique<Replica>(std::move(plan_replicas(spec_, {0}).front()), spec_);
    for (uint32_t i = 0; i < spec_.program->param_count; ++i) {
      replica->weights.set(i, initial_weights(spec_.program->params[i], i, 1).data());
    }
    return replica;
  }
  Replicas open_two() const {
    Replicas two;
    two.push_back(open());
    two.push_back(open());
    return two;
  }

  Learner learner_ = learner_of({"model=gru", "model.width=48", "model.layers=2", "optimizer=es_adamw",
                                 "train.population=65536", "train.members_per_stream=2"});
  egg_session_spec spec_ = learner_.session_spec();
};

std::string refusal_of(const Replicas& replicas) {
  try {
    require_alike(replicas, 300);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), EGG_ERROR_DEVICE);
    return error.what();
  }
  return "";
}

const char* const kRefusal =
    "after step 300 GPU 0 has other weights or slots than GPU 0, expected the same, because both made every update; "
    "resume "
    "the run from its last checkpoint";

TEST_F(ReplicaTest, AlikeOnesAgree) {
  const auto two = open_two();
  EXPECT_EQ(refusal_of(two), "");
  EXPECT_EQ(two[0]->weights.checksum(), two[1]->weights.checksum());
}

TEST_F(ReplicaTest, OneWeightMakesADifference) {
  const auto two = open_two();
  for (uint32_t i = 0; i < spec_.program->param_count; ++i) {
    std::vector<int8_t> weights(weight_count(spec_.program->params[i]));
    two[1]->weights.get(i, weights.data());
    weights.back() = static_cast<int8_t>(weights.back() ^ 1);
    two[1]->weights.set(i, weights.data());
    EXPECT_EQ(refusal_of(two), kRefusal) << spec_.program->params[i].name;
    two[0]->weights.set(i, weights.data());
    EXPECT_EQ(refusal_of(two), "") << spec_.program->params[i].name;
  }
}

// An evaluation leaves draws of the next step, which another one may or may not be of.
TEST_F(ReplicaTest, NoiseAheadIsReadWithItsStepsDrawsAndNewVectors) {
  const uint32_t all = spec_.population;
  const Tokens read(*spec_.program, 1, all / kStreamMembers, 3);
  const auto losses_of = [&](Replica& replica, uint64_t step, uint32_t first, uint32_t count) {
    replica.forward.set_states(0, all, std::vector<int8_t>(all * size_t{learner_.program->state_bytes()}).data());
    Tokens part = read;  // the streams of these members are the first of the batch
    part.streams = count / kStreamMembers;
    std::vector<int64_t> losses(count);
    const egg_evaluate call{sizeof(egg_evaluate), kStreamMembers, step,   first, count,
                            part.view(),          losses.data(),  nullptr};
    replica.forward.evaluate_async(call);
    replica.forward.finish_evaluate(call);
    return losses;
  };
  const auto change_vectors = [&](Replica& replica) {
    for (uint32_t i = 0; i < spec_.program->param_count; ++i) {
      if (spec_.program->params[i].kind != EGG_PARAM_VECTOR) continue;
      const std::vector<int8_t> weights(weight_count(spec_.program->params[i]), 9);
      replica.weights.set(i, weights.data());
    }
  };
  const auto expected = [&](uint64_t step, uint32_t first, uint32_t count) {
    const auto fresh = open();
    change_vectors(*fresh);
    return losses_of(*fresh, step, first, count);
  };
  const auto replica = open();
  losses_of(*replica, 5, 0, all);
  change_vectors(*replica);
  EXPECT_EQ(losses_of(*replica, 6, 0, all), expected(6, 0, all));
  EXPECT_EQ(losses_of(*replica, 5, 0, all), expected(5, 0, all));
  EXPECT_EQ(losses_of(*replica, 6, 0, all / 2), expected(6, 0, all / 2));
  EXPECT_EQ(losses_of(*replica, 6, all / 2, all / 2), expected(6, all / 2, all / 2));
  EXPECT_EQ(losses_of(*replica, 5, 0, all), expected(5, 0, all));
}

TEST_F(ReplicaTest, WeightsThatChangePlacesMakeADifference) {
  const auto two = open_two();
  std::vector<int8_t> weights(weight_count(spec_.program->params[0]));
  two[1]->weights.get(0, weights.data());
  const auto other = std::find_if(weights.begin(), weights.end(), [&](int8_t w) { return w != weights.front(); });
  ASSERT_NE(other, weights.end());
  std::swap(*other, weights.front());
  two[1]->weights.set(0, weights.data());
  EXPECT_EQ(refusal_of(two), kRefusal);
}

TEST_F(ReplicaTest, OneCellOfASlotMakesADifference) {
  const auto two = open_two();
  for (uint32_t s = 0; s < spec_.rule->slot_count; ++s) {
    std::vector<uint32_t> cells(weight_count(spec_.program->params[0]));
    cells[5] = 1U << 31;
    two[1]->weights.set_slot(0, s, cells.data());
    EXPECT_EQ(refusal_of(two), kRefusal) << spec_.rule->slots[s].name;
    two[0]->weights.set_slot(0, s, cells.data());
    EXPECT_EQ(refusal_of(two), "");
  }
}

// The losses of more than 2^20 members come back in parts, while the next members are evaluated.
TEST_F(GpuTest, LossesOfAMillionMembersAreThoseOfFewer) {
  constexpr uint32_t kLaunch = 1U << 20;
  constexpr uint32_t kEach = 64;
  constexpr uint32_t kTokens = 3;
  constexpr uint32_t kMembers = kLaunch + 3 * kEach;
  const Learner learner = learner_of({"model=gru", "model.width=32", "model.layers=1",
                                      "train.population=" + std::to_string(kMembers), "train.members_per_stream=64"});
  const egg_session_spec spec = learner.session_spec();
  constexpr size_t kRead = size_t{kMembers} / kEach * kTokens;
  std::vector<uint32_t> inputs(kRead);
  std::vector<uint32_t> targets(kRead);
  for (size_t i = 0; i < kRead; ++i) {
    inputs[i] = static_cast<uint32_t>(i * i % 251);
    targets[i] = static_cast<uint32_t>(i % 253);
  }
  const std::vector<uint8_t> resets(kRead);
  // The losses of a session that evaluates members up to each of these ends in turn.
  const auto losses_of = [&](const std::vector<uint32_t>& ends) {
    const auto session = open_session(spec, {0});
    set_initial_weights(*session, *spec.program);
    std::vector<int64_t> losses(kMembers, -1);
    uint32_t first = 0;
    for (const uint32_t end : ends) {
      const size_t at = size_t{first} / kEach * kTokens;
      const egg_batch batch{(end - first) / kEach, kTokens, inputs.data() + at, targets.data() + at,
                            resets.data() + at,    nullptr};
      session->evaluate({sizeof(egg_evaluate), kEach, 5, first, end - first, batch, losses.data() + first, nullptr});
      first = end;
    }
    return losses;
  };
  const std::vector<int64_t> at_once = losses_of({kMembers});
  EXPECT_EQ(at_once, losses_of({kLaunch - kEach, kLaunch + kEach, kMembers}));
  EXPECT_GT(*std::min_element(at_once.begin(), at_once.end()), 0);
}

// A next batch of more than 8 MiB comes to the device during the update.
TEST_F(GpuTest, LargeBatchesThatComeAheadAreReadAsOthersAre) {
  constexpr uint32_t kEach = 2;
  constexpr uint32_t kTokens = 32;
  constexpr uint32_t kMembers = 1U << 16;
  constexpr uint32_t kStreams = kMembers / kEach;
  const Learner learner = learner_of({"model=gru", "model.width=32", "model.layers=1",
                                      "train.population=" + std::to_string(kMembers), "train.members_per_stream=2"});
  const egg_session_spec spec = learner.session_spec();
  constexpr size_t kRead = size_t{kStreams} * kTokens;
  static_assert(9 * kRead > size_t{8} << 20);
  const std::vector<uint8_t> resets(kRead);
  std::vector<std::vector<uint32_t>> tokens;  // of each step, and the tokens after them
  for (size_t step = 0; step < 4; ++step) {
    std::vector<uint32_t>& read = tokens.emplace_back(kRead);
    for (size_t i = 0; i < kRead; ++i) read[i] = static_cast<uint32_t>((i * i + step * i) % 251);
  }
  const auto losses_of = [&](bool tells) {
    const auto session = open_session(spec, {0});
    set_initial_weights(*session, *spec.program);
    std::vector<std::vector<int64_t>> losses(3, std::vector<int64_t>(kMembers, -1));
    const auto call = [&](size_t step, const egg_evaluate* next) {
      const egg_batch batch{kStreams, kTokens, tokens[step].data(), tokens[step + 1].data(), resets.data(), nullptr};
      return egg_evaluate{sizeof(egg_evaluate), kEach, step, 0, kMembers, batch, losses[step].data(), next};
    };
    for (size_t step = 0; step < losses.size(); ++step) {
      const bool is_last = step + 1 == losses.size();
      const egg_evaluate next = call(is_last ? step : step + 1, nullptr);
      session->evaluate(call(step, tells && !is_last ? &next : nullptr));
      const std::vector<int8_t> fitness(kMembers / 2, 1);
      const std::vector<float> stds = learner.vote_stds(fitness);
      const std::vector<float> scalars = learner.scalars(step, {});
      std::vector<int64_t> changed(stds.size());
      session->update({sizeof(egg_update), kMembers / 2, step, fitness.data(), scalars.data(), stds.data(),
                       changed.data(), nullptr, call(step, nullptr).batch, kEach, 0});
    }
    return losses;
  };
  const auto expected = losses_of(false);
  EXPECT_EQ(losses_of(true), expected);
  EXPECT_NE(expected[0], expected[1]);
}

// A session of two replicas on one GPU compares them after every update. Without masks each replica makes the votes of
// its own pairs and adds up the votes of all; with them, each owns rows of the embedding. The result equals that of one
// replica with all pairs.
void expect_updates_of_one(const Learner& learner) {
  const egg_session_spec spec = learner.session_spec();
  std::vector<int8_t> fitness(spec.population / 2);
  for (size_t i = 0; i < fitness.size(); ++i) fitness[i] = static_cast<int8_t>(static_cast<int>(i % 9) - 4);
  const std::vector<float> stds = learner.vote_stds(fitness);
  const std::vector<float> scalars = learner.scalars(0, {});
  std::vector<uint32_t> inputs(spec.population / 2);
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<uint32_t>(i * i % 251);
  const auto streams = static_cast<uint32_t>(inputs.size());
  const egg_batch batch{streams, 1, inputs.data(), nullptr, nullptr, nullptr};
  const auto weights_after = [&](const std::vector<int>& devices) {
    const auto session = open_session(spec, devices);
    set_initial_weights(*session, *spec.program);
    const auto before = weights_of(*session, *spec.program);
    std::vector<int64_t> changed(stds.size());
    for (uint64_t step = 0; step < 3; ++step) {
      session->update({sizeof(egg_update), static_cast<uint32_t>(fitness.size()), step, fitness.data(), scalars.data(),
                       stds.data(), changed.data(), nullptr, batch, 2, 0});
    }
    EXPECT_GT(*std::max_element(changed.begin(), changed.end()), 0);
    const auto weights = weights_of(*session, *spec.program);
    EXPECT_NE(weights, before);
    return weights;
  };
  const auto expected = weights_after({0});
  EXPECT_EQ(weights_after({0, 0}), expected);
  EXPECT_EQ(weights_after({0, 0, 0}), expected);
}

TEST_F(ReplicaTest, UpdatesOfSeveralAreThoseOfOne) { expect_updates_of_one(learner_); }
TEST_F(ReplicaTest, SharedUpdatesOfSeveralAreThoseOfOne) {
  expect_updates_of_one(learner_of({"model=gru", "model.width=48", "model.layers=2", "optimizer=es_adamw",
                                    "votes.masked=false", "train.population=65536", "train.members_per_stream=2"}));
}

// The pool gives what was planned, except that the driver rounds large pieces up.
TEST_F(ReplicaTest, TakesTheMemoryThatWasPlanned) {
  open();  // the driver takes some memory at first
  const auto used = [] {
    cudaMemPool_t pool = nullptr;
    uint64_t bytes = 0;
    EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes), cudaSuccess);
    return bytes;
  };
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const uint64_t before = used();
  ReplicaPlan plan = std::move(plan_replicas(spec_, {0}).front());
  const uint64_t planned = plan.memory.total;
  const Replica replica(std::move(plan), spec_);
  EXPECT_NEAR(static_cast<double>(used() - before), static_cast<double>(planned), 0.05 * static_cast<double>(planned));
}

TEST_F(ReplicaTest, RefusesToKeepMoreThanWasPlanned) {
  const std::vector<int8_t> numbers(5);
  DeviceArray<int8_t> array(4);
  array.upload(numbers.data(), 4, nullptr);
  EXPECT_THROW(array.upload(numbers.data(), 5, nullptr), Error);
  EXPECT_THROW(array.upload(numbers.data(), 1, nullptr, 4), Error);
}

}  // namespace
}  // namespace eggroll::cuda
