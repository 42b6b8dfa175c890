// The rewritten program computes the same as the model, and the values it shows are the model's.
#include "monitor/probe.h"

#include <gtest/gtest.h>

#include "conformance/built_backends.h"
#include "program/raw_program.h"
#include "train/session_io.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

// A run with one model of each kind.
class ProbeTest : public BuiltBackend {
 protected:
  eggroll::Setup open_run(const std::vector<std::string>& more) const {
    return eggroll::Setup(small_config(joined({"backend=" + GetParam(), "model.layers=2"}, more)), built_plugins());
  }

  static BackendSession session_of(const Learner& learner, const Program& program) {
    return learner.backend->open_session(egg_session_spec{sizeof(egg_session_spec), 1, &program.view(),
                                                          &learner.rule->view(), learner.noise, 2, 0, 2, 0, nullptr});
  }

  const std::vector<std::vector<std::string>> models_ = {
      {"model=gru"},
      {"model=int8nativeformer", "model.head_width=4"},
      {"model=int8nativeformer", "model.head_width=4", "model.attention.kind=sigmoid", "noise.rank=2"},
  };
};

TEST_P(ProbeTest, TheRewrittenProgramComputesTheSame) {
  for (const std::vector<std::string>& model : models_) {
    const eggroll::Setup run = open_run(model);
    const Program& program = *run.learner.program;
    const ProbeProgram probe(program);
    BackendSession plain = session_of(run.learner, program);
    BackendSession probed = session_of(run.learner, probe.program());
    Draws draws(5);
    for (uint32_t i = 0; i < program.params().size(); ++i) {
      std::vector<int8_t> weights(weight_count(program.params()[i]));
      for (int8_t& weight : weights) weight = static_cast<int8_t>(static_cast<int32_t>(draws.below(61)) - 30);
      plain.set_weights(i, weights.data());
      probed.set_weights(i, weights.data());
    }
    TestStream stream(draws, 8, 16);
    stream.resets[5] = 1;
    const auto infer = [&](BackendSession& session, const Program& of, std::vector<int8_t>& states) {
      states.resize(of.state_bytes());
      std::pair<int64_t, std::vector<int8_t>> result{0, std::vector<int8_t>(16)};
      session.infer(
          egg_infer{sizeof(egg_infer), 0, stream.batch(), states.data(), &result.first, result.second.data()});
      return result;
    };
    std::vector<int8_t> states;
    std::vector<int8_t> probe_states;
    const auto expected = infer(plain, program, states);
    const auto seen = infer(probed, probe.program(), probe_states);
    EXPECT_GT(expected.first, 0);
    EXPECT_EQ(seen, expected) << model.front();
    // The model's own states come first, and the last value is the logits.
    EXPECT_TRUE(std::equal(states.begin(), states.end(), probe_states.begin())) << model.front();
    const ProbeProgram::Seen& last = probe.seen().back();
    EXPECT_STREQ(program.values()[last.value].name, "logits");
    EXPECT_TRUE(
        std::equal(seen.second.begin(), seen.second.end(), probe_states.begin() + static_cast<ptrdiff_t>(last.offset)))
        << model.front();
  }
}

// A session of the model alone gives these for the same tokens: rows of the embedding, states, logits.
TEST_P(ProbeTest, ShowsTheModelsValues) {
  for (const std::vector<std::string>& model : models_) {
    eggroll::Setup run = open_run(model);
    const Program& program = *run.learner.program;
    BackendSession session = run.learner.open_session();
    ModelWeights weights;
    for (const WeightTensor& tensor : read_weights(session, program)) weights.push_back(tensor.data);
    Probe probe(*run.learner.backend, program, run.learner.noise, 1, run.dataset);
    const std::vector<std::vector<int8_t>> values = probe.values(weights);

    const int32_t context = program.view().context;
    const uint32_t tokens = context > 0 ? std::min(kProbeTokens, static_cast<uint32_t>(context)) : kProbeTokens;
    BatchBuffer batch;
    HeldOutStreams(run.dataset, kProbeStreams, tokens, 0).fill(0, batch);
    // 98 tokens to score in 16 streams: seven or six each.
    EXPECT_EQ(probe.first_visible().size(), 98U);
    size_t sample = 0;
    size_t looked_at = 0;
    for (size_t s = 0; s < batch.streams; ++s) {
      const size_t first = sample;
      for (uint32_t t = 0; t < batch.tokens && batch.targets[s * batch.tokens + t] != EGG_NO_TARGET; ++t, ++sample) {
        EXPECT_EQ(probe.first_visible()[sample], first);
        const size_t at = s * batch.tokens;
        std::vector<int8_t> states(program.state_bytes());
        std::vector<int8_t> logits(16);
        int64_t loss = 0;
        session.infer(egg_infer{
            sizeof(egg_infer), 0,
            egg_batch{1, t + 1, batch.inputs.data() + at, batch.targets.data() + at, batch.resets.data() + at, nullptr},
            states.data(), &loss, logits.data()});
        for (uint32_t v = 0; v < program.values().size(); ++v) {
          const std::string name = program.values()[v].name;
          const auto size = static_cast<size_t>(program.values()[v].size);
          if (program.values()[v].is_wide != 0) {
            EXPECT_TRUE(values[v].empty()) << name;
            continue;
          }
          ASSERT_EQ(values[v].size(), 98U * size) << name;
          const auto seen = values[v].begin() + static_cast<ptrdiff_t>(sample * size);
          if (name == "embedded") {
            EXPECT_TRUE(std::equal(seen, seen + static_cast<ptrdiff_t>(size),
                                   weights[0].begin() + static_cast<ptrdiff_t>(batch.inputs[at + t] * size)));
            ++looked_at;
          }
          if (name == "logits") {
            EXPECT_TRUE(std::equal(logits.begin(), logits.end(), seen));
            ++looked_at;
          }
          if (name == "layer1.next") {  // the last layer's next state
            EXPECT_TRUE(std::equal(states.end() - static_cast<ptrdiff_t>(size), states.end(), seen));
            ++looked_at;
          }
          if (name == "layer1.h" && t == 0) {  // the first token reads a zero state
            EXPECT_TRUE(std::all_of(seen, seen + static_cast<ptrdiff_t>(size), [](int8_t x) { return x == 0; }));
            ++looked_at;
          }
        }
      }
    }
    EXPECT_EQ(sample, 98U);
    EXPECT_EQ(looked_at, model.front() == "model=gru" ? 3 * 98U + 16U : 2 * 98U);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, ProbeTest, testing::ValuesIn(built_backends()),
                         [](const auto& test) { return test.param; });

TEST(ProbeProgramTest, TakesNamesThatTheModelHasNot) {
  ProgramBuilder b(5, 4, EGG_ROUND_NEAREST);
  const Value x = b.embed("probe", b.matrix("probe_0", 5, 8, 16));
  b.loss(b.linear("probe_1", x, b.matrix("probe__", 5, 8, 16), 7), 4096);
  const ProbeProgram probe{Program(*b.view())};
  ASSERT_EQ(probe.program().values().size(), 4U);
  EXPECT_STREQ(probe.program().values()[2].name, "probe___0");
  EXPECT_STREQ(probe.program().values()[3].name, "probe___1");
}

TEST(ProbeProgramTest, LeavesOutWideValues) {
  const Program former(RawProgram(tiny_former()).view());
  const ProbeProgram probe(former);
  std::vector<std::string> seen;
  for (const ProbeProgram::Seen& value : probe.seen()) seen.emplace_back(former.values()[value.value].name);
  EXPECT_EQ(seen, (std::vector<std::string>{"x", "u", "n", "o", "y", "logits"}));
}

// A separator within a stream hides the positions before it.
TEST(ProbeSamples, AResetHidesWhatCameBefore) {
  eggroll::Setup run(small_config(), built_plugins());
  run.dataset.separator = 3;
  Probe probe(*run.learner.backend, *run.learner.program, run.learner.noise, 1, run.dataset);
  BatchBuffer batch;
  HeldOutStreams(run.dataset, kProbeStreams, kProbeTokens, 0).fill(0, batch);
  size_t sample = 0;
  size_t hidden = 0;
  for (size_t s = 0; s < batch.streams; ++s) {
    size_t first = sample;
    for (size_t t = 0; t < batch.tokens && batch.targets[s * batch.tokens + t] != EGG_NO_TARGET; ++t, ++sample) {
      if (t > 0 && batch.inputs[s * batch.tokens + t] == 3) {
        first = sample;
        ++hidden;
      }
      EXPECT_EQ(probe.first_visible()[sample], first);
    }
  }
  EXPECT_GT(hidden, 0U);
}

}  // namespace
}  // namespace eggroll::test
