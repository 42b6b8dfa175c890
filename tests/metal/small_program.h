// A program that uses every op, and the calls that a test makes with it on a session of the metal backend.
#ifndef EGGROLL_TESTS_METAL_SMALL_PROGRAM_H
#define EGGROLL_TESTS_METAL_SMALL_PROGRAM_H

#include <cstdint>
#include <cstring>
#include <vector>

#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "session.h"
#include "shim_device.h"
#include "support/host.h"

namespace eggroll::metal {

// Linears of more than one block of inputs and outputs, an attention with several heads, every elementwise op; a masked
// table that is read by an index, and parameters that some pairs alone perturb; a site at the output, with which the
// head, its bias and a table vote, and one within, before all of that but the embedding.
class SmallProgram {
 public:
  static constexpr int32_t kTokens = 5;
  static constexpr int32_t kVocab = 255;
  static constexpr int32_t kWidth = 136;
  static constexpr int32_t kHead = 68;
  static constexpr uint32_t kPopulation = 128;
  static constexpr uint32_t kStreams = 64;
  static constexpr uint32_t kOfSite = 16;      // the first streams; the others' members are a tile and a half
  static constexpr uint32_t kOfInnerSite = 2;  // the last of these
  static constexpr uint32_t kInferred = 4;
  static constexpr uint32_t kTableRows = 64;
  static constexpr uint32_t kSiteTableRows = 16;

  SmallProgram() {
    ProgramBuilder& b = program_;
    std::vector<int32_t> lut;
    for (int32_t i = -128; i < 128; ++i) lut.push_back(i < 0 ? i / 4 : i);
    std::vector<int32_t> weights;
    for (int32_t i = 0; i < 256; ++i) weights.push_back(16384 >> (i / 16));
    std::vector<int32_t> angles;
    for (int32_t i = 0; i < kTokens * kHead; ++i) angles.push_back((i * 77003) % (1 << 20));
    const Table lut_table = b.table("lut", lut);
    const Table weight_table = b.table("weights", weights);
    const Table angle_table = b.table("angles", angles);
    const auto square = [&](const char* name) { return b.matrix(name, kWidth, kWidth, 16); };
    const Value x = b.embed("x", b.matrix("embedding", kVocab, kWidth, 40));
    const Value state = b.state("state", kWidth);
    const Value normed = b.l1_norm("normed", x, b.vector("gain", kWidth, 16), EGG_DIVIDE_RECIPROCAL);
    const Value q =
        b.rope("q", b.linear("q.made", normed, square("q.w"), 5, b.vector("q.b", kWidth, 2)), angle_table, kHead);
    const Value mixed =
        b.attention("mixed", q, b.linear("k", normed, square("k.w"), 5), b.linear("v", normed, square("v.w"), 5),
                    weight_table, kHead, EGG_WEIGHT_SOFTMAX, 12);
    const Value scaled =
        b.max_norm("scaled", b.wide_add("wide", b.wide_linear("wide.made", mixed, square("wide.w"), 3), x));
    const Value candidate = b.add("candidate", b.gru_gate("gated", scaled, state), scaled);
    const Value next = b.gru_mix("next", scaled, state, candidate);
    b.store(state, next);
    const Param head = b.matrix("head", kVocab, kWidth, 16);
    const Param bias = b.vector("head.b", kVocab, 0);
    const Param site_table = b.matrix("site_table", kSiteTableRows, kVocab, 16);
    const Value seen = b.lut("seen", next, lut_table);
    // the last parameter: its end is the end of the weights
    const Param table = b.matrix("table", kTableRows, kWidth, 40);
    const Value looked_up = b.embed("looked_up", table, b.index(2, kTableRows), seen);
    const Value made = b.linear("made", looked_up, head, 6, bias);
    b.loss(b.embed("logits", site_table, b.index(1, kSiteTableRows), made), 4096);
    const egg_program& view = *b.view();
    const uint32_t pairs = kPopulation / 2 - kOfSite;
    for (uint32_t i = 0; i < view.param_count; ++i) voters_.push_back({kOfSite + i % 3, pairs - 3 - i % 5, 0});
    voters_.back().masked = 1;
    for (uint32_t i = view.param_count - 4; i < view.param_count - 1; ++i) voters_[i] = {0, kOfSite, 0, 1};
    voters_[view.param_count - 2].masked = 1;
    sites_ = {{view.ops[view.op_count - 1].in[0], EGG_DRAWS_ORTHOGONAL, 256, 3, 0, 9, 0, kOfSite},
              {normed.id, EGG_DRAWS_INDEPENDENT, 3, 9, 2, 1, kOfSite - kOfInnerSite, kOfInnerSite}};

    // The rule reads every slot and scalar that it has.
    const Node momentum = rule_.slot("momentum", 'f');
    const Node rate = rule_.scalar("rate");
    const Node vote = rule_.op(EGG_RULE_FDIV, {rule_.vote_f32(), rule_.vote_std()});
    const Node mean = rule_.op(EGG_RULE_FADD, {momentum, vote});
    rule_.set_slot(momentum, mean);
    rule_.delta(rule_.op(EGG_RULE_TRUNC_I32, {rule_.op(EGG_RULE_FMUL, {mean, rate})}));
    noise_.seed = 7;
    noise_.rank = 2;
    noise_.sigma_shift = 1;
    noise_.sigma_vector_shift = 1;
    test::Draws draws(3);
    for (uint32_t i = 0; i < kStreams * kTokens; ++i) {
      inputs_.push_back(draws.below(kVocab));
      targets_.push_back(draws.below(kVocab));
      resets_.push_back(i == kTokens + 2 ? 1 : 0);
      // All streams read a few rows, among them the last row and none; of the site's table nearly all read the last
      // one.
      const uint32_t rows[] = {kTableRows - 1, 7, 8, EGG_NO_ROW};
      rows_.push_back(rows[draws.below(4)]);
      rows_.push_back(i % 9 == 0 ? draws.below(kSiteTableRows) : kSiteTableRows - 1);
    }
  }

  egg_session_spec spec() {
    return egg_session_spec{sizeof(egg_session_spec),
                            1,
                            program_.view(),
                            rule_.view(),
                            noise_,
                            kPopulation,
                            0,
                            kPopulation,
                            0,
                            voters_.data(),
                            sites_.data(),
                            static_cast<uint32_t>(sites_.size()),
                            kTokens,
                            kPopulation / kStreams};
  }
  egg_batch batch() const { return {kStreams, kTokens, inputs_.data(), targets_.data(), resets_.data(), rows_.data()}; }

  // Sets weights, makes a step and runs the unperturbed model; returns all that comes back.
  std::vector<int64_t> run(MetalSession& session) {
    const egg_program& program = *program_.view();
    test::Draws draws(5);
    std::vector<std::vector<int8_t>> weights;
    for (uint32_t i = 0; i < program.param_count; ++i) {
      const egg_param& param = program.params[i];
      weights.emplace_back(static_cast<size_t>(param.rows) * static_cast<size_t>(param.cols));
      for (int8_t& weight : weights.back()) weight = static_cast<int8_t>(draws.weight() / 4);
      session.set_weights(i, weights.back().data());
    }
    std::vector<int64_t> all(kPopulation);
    std::vector<egg_site_sums> sums(sites_.size());
    session.evaluate(
        {sizeof(egg_evaluate), kPopulation / kStreams, 9, 0, kPopulation, batch(), all.data(), nullptr, sums.data()});
    for (const egg_site_sums& each : sums) {
      all.push_back(static_cast<int64_t>(each.tokens));
      all.push_back(each.squares);
    }
    std::vector<int8_t> states(kPopulation * size_t{kWidth});
    session.get_states(0, kPopulation, states.data());
    all.insert(all.end(), states.begin(), states.end());
    std::vector<int8_t> fitness;
    for (uint32_t i = 0; i < kPopulation / 2; ++i) fitness.push_back(draws.weight());
    const float rate = 2.0F;
    const std::vector<float> stds(program.param_count, 20000.0F);
    std::vector<int64_t> changed(program.param_count);
    session.update({sizeof(egg_update), kPopulation / 2, 9, fitness.data(), &rate, stds.data(), changed.data(), nullptr,
                    batch(), kPopulation / kStreams, 0, sums.data()});
    all.insert(all.end(), changed.begin(), changed.end());
    for (uint32_t i = 0; i < program.param_count; ++i) {
      session.get_weights(i, weights[i].data());
      all.insert(all.end(), weights[i].begin(), weights[i].end());
    }
    infer(session, all);
    return all;
  }

  void infer(MetalSession& session, std::vector<int64_t>& all) {
    std::vector<int8_t> states(kInferred * size_t{kWidth});
    std::vector<int64_t> losses(kInferred);
    std::vector<int8_t> logits(kInferred * size_t{kVocab});
    egg_batch streams = batch();
    streams.streams = kInferred;
    session.infer({sizeof(egg_infer), 0, streams, states.data(), losses.data(), logits.data()});
    all.insert(all.end(), losses.begin(), losses.end());
    all.insert(all.end(), logits.begin(), logits.end());
    all.insert(all.end(), states.begin(), states.end());
  }

 private:
  ProgramBuilder program_{kVocab, 4, EGG_ROUND_NEAREST, kTokens};
  RuleBuilder rule_;
  egg_noise noise_{};
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> targets_;
  std::vector<uint8_t> resets_;
  std::vector<uint32_t> rows_;
  std::vector<egg_voters> voters_;
  std::vector<egg_site> sites_;
};

// The rows of a table are the logits, and no weight moves.
struct TableOfLogits {
  TableOfLogits() {
    program.loss(program.embed("logits", program.matrix("table", 7, 7, 16)), 4096);
    rule.delta(rule.constant(0));
    noise.rank = 1;
  }
  egg_session_spec spec(uint32_t population) {
    return {sizeof(egg_session_spec), 1, program.view(), rule.view(), noise, population, 0, population, 0, nullptr};
  }

  ProgramBuilder program{7, 4, EGG_ROUND_NEAREST};
  RuleBuilder rule;
  egg_noise noise{};
};

// All results of the small program on a device whose threads run in the order that this seed draws.
inline std::vector<int64_t> run_small(uint64_t seed) {
  shim_faults().seed = seed;
  SmallProgram small;
  const egg_session_spec spec = small.spec();
  MetalSession session(open_shim_device(), spec, kBlock);
  return small.run(session);
}

}  // namespace eggroll::metal

#endif
