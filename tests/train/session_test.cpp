// A session and the data reading work together, and a checkpoint holds all of a session.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "data/streams.h"
#include "eggroll/program_builder.h"
#include "support/whole_checkpoint.h"
#include "train/members.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// The small run without perturbation: every member is the unperturbed model.
class UnperturbedRun : public testing::Test {
 protected:
  UnperturbedRun() : setup_(small_config(), built_plugins()), params_(setup_.learner.program->params()) {
    for (egg_param& param : params_) param.perturbed = 0;
    egg_program view = setup_.learner.program->view();
    view.params = params_.data();
    program_.emplace(view);
    Draws draws(5);
    for (const egg_param& param : params_) {
      weights_.emplace_back(weight_count(param));
      for (int8_t& weight : weights_.back()) weight = static_cast<int8_t>(static_cast<int32_t>(draws.below(61)) - 30);
    }
  }

  BackendSession session() {
    BackendSession session = setup_.learner.backend->open_session(
        egg_session_spec{sizeof(egg_session_spec), 1, &program_->view(), &setup_.learner.rule->view(),
                         setup_.learner.noise, population(), 0, population(), 0, nullptr});
    for (uint32_t i = 0; i < params_.size(); ++i) session.set_weights(i, weights_[i].data());
    return session;
  }

  std::vector<int64_t> evaluate(BackendSession& session, uint64_t step, const egg_batch& batch) {
    std::vector<int64_t> losses(population());
    session.evaluate(egg_evaluate{sizeof(egg_evaluate), setup_.learner.train.members_per_stream, step, 0, population(),
                                  batch, losses.data(), nullptr});
    return losses;
  }

  std::vector<int8_t> states(BackendSession& session) {
    std::vector<int8_t> values(size_t{population()} * program_->state_bytes());
    session.get_states(0, population(), values.data());
    return values;
  }

  uint32_t population() const { return setup_.learner.train.population; }
  uint32_t streams() const { return population() / setup_.learner.train.members_per_stream; }

  eggroll::Setup setup_;  // testing::Test has a Setup of its own
  std::vector<egg_param> params_;
  std::optional<Program> program_;
  std::vector<std::vector<int8_t>> weights_;
};

TEST_F(UnperturbedRun, MembersOfAGroupReadTheSameStream) {
  const TrainStreams reading(setup_.dataset, streams(), setup_.learner.train.tokens);
  BatchBuffer batch;
  reading.fill(0, batch);
  ASSERT_EQ(batch.streams, 4U);
  BackendSession opened = session();
  const std::vector<int64_t> losses = evaluate(opened, 0, batch.view());
  // Each group's loss is that of the unperturbed model on its stream.
  std::vector<int8_t> zero(size_t{streams()} * program_->state_bytes());
  std::vector<int64_t> inferred(streams());
  opened.infer(egg_infer{sizeof(egg_infer), 0, batch.view(), zero.data(), inferred.data(), nullptr});
  for (size_t member = 0; member < losses.size(); ++member) {
    EXPECT_EQ(losses[member], inferred[member / setup_.learner.train.members_per_stream]) << "member " << member;
  }
  EXPECT_GT(std::set<int64_t>(inferred.begin(), inferred.end()).size(), 1U);
}

// An evaluation is told the step, members and batch of the next one.
TEST_F(UnperturbedRun, MembersSayWhatTheyWillReadNext) {
  const TrainStreams reading(setup_.dataset, streams(), setup_.learner.train.tokens);
  BackendSession opened = setup_.learner.open_session();
  Processes alone;
  StepPipeline pipeline(setup_, opened, setup_.learner.all_members());
  Members members(setup_, opened, alone, pipeline);
  const uint32_t* read = nullptr;
  for (uint64_t step = 0; step + 1 < 6; ++step) {
    const Scores& scores = members.score(step, {});
    const egg_evaluate* const next = pipeline.call(step).next;
    pipeline.begin_update(step, pipeline.batch_of_all(step), scores.fitness, std::nullopt);
    pipeline.end_update();
    if (step == 0) {
      EXPECT_FALSE(next) << "batches are filled ahead beside the first update";
      continue;
    }
    if (read != nullptr) {
      EXPECT_EQ(pipeline.batch_of_all(step).inputs.data(), read) << "another batch than was said before";
    }
    ASSERT_TRUE(next);
    EXPECT_EQ(next->step, step + 1);
    EXPECT_EQ(next->first, 0U);
    EXPECT_EQ(next->count, population());
    BatchBuffer expected;
    reading.fill(step + 1, expected);
    ASSERT_EQ(next->batch.streams, expected.streams);
    EXPECT_EQ(std::vector(next->batch.inputs, next->batch.inputs + expected.inputs.size()), expected.inputs);
    EXPECT_EQ(std::vector(next->batch.targets, next->batch.targets + expected.targets.size()), expected.targets);
    read = next->batch.inputs;
  }
}

// Members keep their state from call to call: twice four tokens are eight.
TEST_F(UnperturbedRun, StateIsCarriedFromStepToStep) {
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> targets;
  Draws draws(9);
  for (uint32_t i = 0; i < streams() * 8; ++i) {
    inputs.push_back(draws.below(16));
    targets.push_back(draws.below(16));
  }
  // Tokens [first, first + count) of every stream.
  const auto part = [&](uint32_t first, uint32_t count) {
    BatchBuffer batch;
    batch.clear(streams(), count);
    for (uint32_t s = 0; s < streams(); ++s) {
      for (uint32_t t = 0; t < count; ++t) {
        batch.inputs[s * count + t] = inputs[s * 8 + first + t];
        batch.targets[s * count + t] = targets[s * 8 + first + t];
      }
    }
    return batch;
  };
  BackendSession whole = session();
  const std::vector<int64_t> expected = evaluate(whole, 0, part(0, 8).view());

  BackendSession halves = session();
  std::vector<int64_t> sum = evaluate(halves, 0, part(0, 4).view());
  const std::vector<int64_t> second = evaluate(halves, 1, part(4, 4).view());
  for (size_t member = 0; member < sum.size(); ++member) sum[member] += second[member];
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(states(halves), states(whole));

  // If the second half begins at a zero state, the sum differs.
  BackendSession fresh = session();
  EXPECT_NE(evaluate(fresh, 1, part(4, 4).view()), second);
}

TEST_F(UnperturbedRun, AResetForgetsTheState) {
  BatchBuffer batch;
  batch.clear(streams(), 4);
  std::fill(batch.targets.begin(), batch.targets.end(), 3);
  for (uint32_t i = 0; i < batch.inputs.size(); ++i) batch.inputs[i] = i % 16;
  BackendSession opened = session();
  const std::vector<int64_t> from_zero = evaluate(opened, 0, batch.view());
  EXPECT_NE(evaluate(opened, 1, batch.view()), from_zero);
  for (uint32_t s = 0; s < streams(); ++s) batch.resets[s * 4] = 1;
  EXPECT_EQ(evaluate(opened, 2, batch.view()), from_zero);
}

TEST_F(UnperturbedRun, TokensWithoutATargetAreReadAndNotScored) {
  BatchBuffer batch;
  batch.clear(streams(), 4);
  for (uint32_t i = 0; i < batch.inputs.size(); ++i) batch.inputs[i] = i % 16;
  BackendSession opened = session();
  EXPECT_THAT(evaluate(opened, 0, batch.view()), Each(0));
  EXPECT_THAT(states(opened), testing::Contains(testing::Ne(0)));
}

// A step of training without the trainer.
void step_of(BackendSession& session, const Setup& setup, const TrainStreams& reading, uint64_t step) {
  BatchBuffer batch;
  reading.fill(step, batch);
  const TrainSettings& train = setup.learner.train;
  std::vector<int64_t> losses(train.population);
  session.evaluate(egg_evaluate{sizeof(egg_evaluate), train.members_per_stream, step, 0, train.population, batch.view(),
                                losses.data(), nullptr});
  setup.learner.update(session, step, {}, setup.fitness.of(losses), batch);
}

class SessionCheckpoint : public ScratchTest {
 protected:
  SessionCheckpoint()
      : setup_(small_config(), built_plugins()),
        reading_(setup_.dataset, setup_.learner.train.population / setup_.learner.train.members_per_stream,
                 setup_.learner.train.tokens),
        session_(setup_.learner.open_session()) {
    for (uint64_t step = 0; step < 5; ++step) step_of(session_, setup_, reading_, step);
  }

  Checkpoint captured(BackendSession& session) const { return test::captured(session, setup_.learner); }

  eggroll::Setup setup_;  // testing::Test has a Setup of its own
  TrainStreams reading_;
  BackendSession session_;  // after five steps
};

// Files carry weights, residuals and states into another session, whose next steps are the same.
TEST_F(SessionCheckpoint, RestoresWeightsSlotsAndStates) {
  Checkpoint saved = captured(session_);
  saved.step = 5;
  ASSERT_FALSE(saved.slots.empty());
  const auto differs_from_zero = [](const auto& values) {
    return std::any_of(values.begin(), values.end(), [](auto value) { return value != 0; });
  };
  for (const SlotTensor& slot : saved.slots) EXPECT_TRUE(differs_from_zero(slot.bits)) << slot.param;
  EXPECT_TRUE(differs_from_zero(saved.states));

  const Checkpoint loaded = load_checkpoint(save_checkpoint(folder_, saved, 1));
  expect_equal(loaded, saved);
  BackendSession other = setup_.learner.open_session();
  restore_session(other, setup_.learner, loaded);
  expect_equal(captured(other), saved);

  for (uint64_t step = 5; step < 9; ++step) {
    step_of(session_, setup_, reading_, step);
    step_of(other, setup_, reading_, step);
  }
  const Checkpoint after = captured(session_);
  expect_equal(captured(other), after);
  EXPECT_NE(weights_sha256(after.weights), weights_sha256(saved.weights));
}

// Weights, residuals and states are all needed: without one of them the next steps differ.
TEST_F(SessionCheckpoint, HoldsNothingThatCouldBeLeftOut) {
  const Checkpoint saved = captured(session_);
  for (uint64_t step = 5; step < 9; ++step) step_of(session_, setup_, reading_, step);
  const std::string expected = weights_sha256(captured(session_).weights);

  const auto result_without = [&](const std::function<void(Checkpoint&)>& spoil) {
    Checkpoint spoilt = saved;
    spoil(spoilt);
    BackendSession other = setup_.learner.open_session();
    restore_session(other, setup_.learner, spoilt);
    for (uint64_t step = 5; step < 9; ++step) step_of(other, setup_, reading_, step);
    return weights_sha256(captured(other).weights);
  };
  EXPECT_EQ(result_without([](Checkpoint&) {}), expected);
  EXPECT_NE(result_without([](Checkpoint& c) { c.weights[0].data.assign(c.weights[0].data.size(), 0); }), expected);
  EXPECT_NE(result_without([](Checkpoint& c) {
              for (SlotTensor& slot : c.slots) slot.bits.assign(slot.bits.size(), 0);
            }),
            expected);
  EXPECT_NE(result_without([](Checkpoint& c) { c.states.assign(c.states.size(), 0); }), expected);
}

TEST_F(SessionCheckpoint, RefusesTensorsOfAnotherProgram) {
  const std::string sentence =
      "the checkpoint's tensors do not fit this program and rule; use the checkpoint with the run that made it";
  const Checkpoint saved = captured(session_);
  const auto refusal = [&](const std::function<void(Checkpoint&)>& spoil) {
    Checkpoint spoilt = saved;
    spoil(spoilt);
    return message_of([&] { restore_session(session_, setup_.learner, spoilt); });
  };
  EXPECT_EQ(refusal([](Checkpoint&) {}), "");
  EXPECT_EQ(refusal([](Checkpoint& c) { c.weights.pop_back(); }), sentence);
  EXPECT_EQ(refusal([](Checkpoint& c) { c.weights[3].data.pop_back(); }), sentence);
  EXPECT_EQ(refusal([](Checkpoint& c) { c.slots.pop_back(); }), sentence);
  EXPECT_EQ(refusal([](Checkpoint& c) { c.slots[0].bits.pop_back(); }), sentence);
  EXPECT_EQ(refusal([](Checkpoint& c) { c.population = 8; }), sentence);
  EXPECT_EQ(refusal([](Checkpoint& c) { c.state_bytes += 1; }), sentence);
}

// A value that no checkpoint may hold is refused where it appears.
TEST_F(SessionCheckpoint, WeightsStatesAndSlotsThatAreNoneAreRefused) {
  const Learner learner(small_config({"optimizer=es_adamw"}), built_plugins());
  BackendSession session = learner.open_session();
  std::vector<int8_t> states(learner.train.population * learner.program->state_bytes());
  const auto message = [&] {
    const SessionTensors source(session, learner, states, 7);
    const CheckpointTensors& tensors = source.tensors();
    return message_of([&] {
      for (const auto* list : {&tensors.weights, &tensors.slots}) {
        for (const TensorSource& tensor : *list) tensor.read();
      }
      tensors.states.read();
    });
  };
  EXPECT_EQ(message(), "");
  const egg_param& param = learner.program->params()[1];
  std::vector<int8_t> weights(weight_count(param));
  session.get_weights(1, weights.data());
  states[5] = -128;
  std::swap(weights[3], states[5]);
  session.set_weights(1, weights.data());
  EXPECT_THAT(message(),
              HasSubstr(fmt::format("backend 'reference' gave the tensor '{}' a -128 at position 3 after 7 steps",
                                    param.name)));
  std::swap(weights[3], states[5]);
  session.set_weights(1, weights.data());
  EXPECT_THAT(message(), HasSubstr("gave the states a -128 at position 5"));
  states[5] = 0;
  ASSERT_EQ(learner.rule->slots()[0].type, 'f');
  std::vector<uint32_t> bits(weight_count(param));
  for (const uint32_t wrong : {0x7fc00000U, 0x7f800000U}) {
    bits[2] = wrong;
    session.set_slot(1, 0, bits.data());
    EXPECT_THAT(message(), HasSubstr(fmt::format(
                               "the rule of optimizer 'es_adamw' made the slot '{}' of tensor '{}' {} at position 2",
                               learner.rule->slots()[0].name, param.name, wrong == 0x7f800000U ? "inf" : "nan")));
  }
}

}  // namespace
}  // namespace eggroll::test
