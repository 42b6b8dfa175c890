// Sites: which ones the backend has, draws at as many channels as it has, and the memory that was planned.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "eggroll/logit_draws.h"
#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "session.h"
#include "shim_device.h"
#include "small_program.h"

namespace eggroll::metal {
namespace {

// The rows of a table are the logits; its votes are kept.
class RowsOfLogits {
 public:
  static constexpr uint32_t kRows = 3;
  static constexpr uint32_t kStreams = 5;
  static constexpr uint32_t kTokens = 3;
  static constexpr int32_t kUnit = 900;

  RowsOfLogits(int32_t vocab, uint32_t draws, egg_design design = EGG_DRAWS_ORTHOGONAL)
      : program_(vocab, 4, EGG_ROUND_NEAREST) {
    const Param table = program_.matrix("table", kRows, vocab, 16);
    const Value logits = program_.embed("logits", table, program_.index(1, kRows));
    program_.loss(logits, kUnit);
    const Node kept = rule_.slot("kept", 'f');
    rule_.set_slot(kept, rule_.vote_f32());
    rule_.delta(rule_.constant(0));
    noise_.seed = 11;
    noise_.rank = 1;
    site_ = {program_.view()->ops[0].out, design, draws, 2, 0, 5, 0, kStreams};
  }

  const egg_program& program() { return *program_.view(); }
  const egg_site& site() const { return site_; }
  egg_session_spec spec() {
    return egg_session_spec{sizeof(egg_session_spec),
                            1,
                            program_.view(),
                            rule_.view(),
                            noise_,
                            2 * kStreams,
                            0,
                            2 * kStreams,
                            0,
                            &voters_,
                            &site_,
                            1,
                            kTokens,
                            2};
  }

  // Makes a step, on the session and by LogitDraws; expects both to leave the same sums and votes.
  void expect_the_same_votes() {
    const auto vocab = static_cast<uint32_t>(program().vocab);
    test::Draws draws(vocab);
    std::vector<int8_t> weights(kRows * vocab);
    for (int8_t& weight : weights) weight = draws.weight();
    std::vector<uint32_t> targets;
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < kStreams * kTokens; ++i) {
      targets.push_back(i == 4 ? EGG_NO_TARGET : draws.below(vocab));
      rows.push_back(draws.below(kRows));
    }
    const std::vector<uint32_t> inputs(targets.size());
    const std::vector<uint8_t> resets(targets.size());
    const egg_batch batch{kStreams, kTokens, inputs.data(), targets.data(), resets.data(), rows.data()};
    const egg_session_spec its_spec = spec();
    MetalSession session(open_shim_device(), its_spec);
    session.set_weights(0, weights.data());
    std::vector<int64_t> losses(2 * kStreams);
    constexpr uint64_t kStep = 6;
    egg_site_sums sums{};
    session.evaluate({sizeof(egg_evaluate), 2, kStep, 0, 2 * kStreams, batch, losses.data(), nullptr, &sums});
    const std::vector<int8_t> fitness(kStreams);
    const float std = 1.0F;
    int64_t changed = 0;
    session.update(
        {sizeof(egg_update), kStreams, kStep, fitness.data(), nullptr, &std, &changed, nullptr, batch, 2, 0, &sums});
    std::vector<float> kept(weights.size());
    session.get_slot(0, 0, kept.data());

    LogitDraws logit_draws(program(), site_);
    std::vector<int64_t> votes(weights.size());
    std::vector<int16_t> error(vocab);
    egg_site_sums expected{};
    for (uint32_t i = 0; i < targets.size(); ++i) {
      if (targets[i] == EGG_NO_TARGET) continue;
      const auto key_of = [&](uint32_t draw) {
        return egg_draw_key(noise_.seed, kStep, i / kTokens, 0, i % kTokens, draw);
      };
      logit_draws.error(weights.data() + rows[i] * vocab, targets[i], key_of, error.data());
      ++expected.tokens;
      for (uint32_t c = 0; c < vocab; ++c) {
        votes[rows[i] * vocab + c] += error[c];
        expected.squares += int64_t{error[c]} * error[c];
      }
    }
    EXPECT_EQ(sums.tokens, expected.tokens) << vocab;
    EXPECT_EQ(sums.squares, expected.squares) << vocab;
    EXPECT_GT(expected.squares, 0) << vocab;
    EXPECT_EQ(kept, std::vector<float>(votes.begin(), votes.end())) << vocab;
  }

 private:
  ProgramBuilder program_;
  RuleBuilder rule_;
  egg_noise noise_{};
  egg_site site_{};
  egg_voters voters_{0, kStreams, 1, 1};
};

TEST(Sites, AreAtTheOutputOfUpTo4096Channels) {
  for (const egg_design design : {EGG_DRAWS_ORTHOGONAL, EGG_DRAWS_INDEPENDENT}) {
    RowsOfLogits rows(4096, 4096, design);
    EXPECT_TRUE(has_site(rows.program(), rows.site()));
    RowsOfLogits more(4097, 1, design);
    EXPECT_FALSE(has_site(more.program(), more.site()));
  }
}

// Beyond 1,024 channels fewer places share a threadgroup, of independent draws beyond 512.
TEST(Sites, DrawAtUpTo4096Channels) {
  for (const auto& [vocab, draws] : {std::pair{300, 512U}, {1024, 1024U}, {1025, 700U}, {2048, 1U}, {4096, 4096U}}) {
    RowsOfLogits(vocab, draws).expect_the_same_votes();
  }
  for (const auto& [vocab, draws] : {std::pair{3, 70U}, {512, 600U}, {513, 40U}, {4096, 9U}}) {
    RowsOfLogits(vocab, draws, EGG_DRAWS_INDEPENDENT).expect_the_same_votes();
  }
}

}  // namespace
}  // namespace eggroll::metal
