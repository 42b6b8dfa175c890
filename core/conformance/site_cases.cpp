// Steps with sites: a table by token and one by hash, a matrix and a bias that are the sum at what the loss reads,
// behind a state; values within the program are sites too where a backend has them.
#include <fmt/format.h>

#include <utility>

#include "conformance/cases.h"
#include "conformance/draws.h"
#include "eggroll/draws.h"
#include "eggroll/sites.h"
#include "eggroll/spec.h"

namespace eggroll {
namespace {

constexpr uint32_t kStepsOfCase = 3;
constexpr int32_t kUnitOfCase = 9000;

void build_program(ProgramBuilder& builder, int32_t vocab, int32_t width) {
  // Each parameter in a statement of its own: compilers differ in which argument of a call they make first.
  const Param embedding = builder.matrix("embedding", vocab, width, 16);
  const Param w = builder.matrix("w", width, width, 16);
  const Param u = builder.matrix("u", width, width, 16);
  const Param b = builder.vector("b", width, 3);
  const Param head = builder.matrix("head", vocab, width, 16);
  const Param bias = builder.vector("bias", vocab, 0);
  const Param table0 = builder.matrix("table0", vocab, vocab, 16);
  const Param table1 = builder.matrix("table1", 8, vocab, 16);
  const Value h = builder.state("h", width);
  const Value from_x = builder.linear("from_x", builder.embed("x", embedding), w, 5);
  const Value from_h = builder.linear("from_h", h, u, 6);
  const Value next = builder.add("next", from_x, from_h, b);
  builder.store(h, next);
  const Value by_token = builder.embed("by_token", table0, {}, builder.linear("logits", next, head, 6, bias));
  builder.loss(builder.embed("by_hash", table1, builder.index(2, 8), by_token), kUnitOfCase);
}

// The vote's sign moves the weight, and its size in deviations is kept.
void build_rule(RuleBuilder& rule) {
  const Node z = rule.op(EGG_RULE_FDIV, {rule.vote_f32(), rule.vote_std()});
  const Node kept = rule.slot("kept", 'f');
  rule.set_slot(kept, rule.op(EGG_RULE_FADD, {kept, z}));
  rule.delta(rule.op(EGG_RULE_TRUNC_I32, {rule.op(EGG_RULE_FMUL, {z, rule.constant(2.0F)})}));
}

int32_t number_of(const egg_program& program, const std::string& value) {
  for (uint32_t i = 0; i < program.value_count; ++i) {
    if (program.values[i].name == value) return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace

std::vector<SiteCase> output_site_cases() {
  std::vector<SiteCase> cases;
  for (const int32_t vocab : {2, 7, 16, 70, 256}) {
    const uint32_t rows = UINT32_C(1) << egg_log2_up(static_cast<uint32_t>(vocab));
    for (const uint32_t draws : {1U, rows / 2, rows}) {
      const int32_t amplitude = 1 + static_cast<int32_t>(cases.size()) % 5;
      cases.push_back({fmt::format("output of {}, {} draws", vocab, draws),
                       vocab,
                       5,
                       {{"by_hash", draws, true, amplitude, 0, egg_log2_up(draws) + 2}}});
    }
  }
  return cases;
}

std::vector<SiteCase> independent_site_cases() {
  std::vector<SiteCase> cases;
  for (const uint32_t draws : {1U, 9U, 40U}) {
    cases.push_back({fmt::format("{} independent draws", draws), 11, 6, {{"by_hash", draws, false, 2, 0, 4}}});
  }
  return cases;
}

std::vector<SiteCase> inner_site_cases() {
  std::vector<SiteCase> cases;
  for (const bool orthogonal : {false, true}) {
    for (const uint32_t horizon : {0U, 1U, 9U}) {
      for (const auto& [width, draws] : {std::pair{6, 5U}, std::pair{70, 40U}}) {
        cases.push_back({fmt::format("{} {} draws at {} channels within, horizon {}", draws,
                                     orthogonal ? "orthogonal" : "independent", width, horizon),
                         11,
                         width,
                         {{"next", draws, orthogonal, 4, horizon, 1}, {"by_hash", 9, true, 2, 0, 4}}});
      }
    }
  }
  return cases;
}

Transcript run_case(const BackendInstance& backend, const SiteCase& test, int threads) {
  constexpr uint32_t kStreams = 41;  // the last 5 are of pairs that perturb parameters
  constexpr uint32_t kOfSites = 36;
  constexpr uint32_t kTokens = 4;
  ProgramBuilder builder(test.vocab, 4, EGG_ROUND_NEAREST);
  build_program(builder, test.vocab, test.width);
  const Program program(*builder.view());
  const egg_program& view = program.view();
  RuleBuilder rule_builder;
  build_rule(rule_builder);
  const Rule rule(*rule_builder.view());

  std::vector<egg_site> sites;
  std::vector<egg_voters> voters(view.param_count, egg_voters{kOfSites, kStreams - kOfSites, 0, 0});
  for (const SiteCase::Site& s : test.sites) {
    sites.push_back({number_of(view, s.value), s.orthogonal ? EGG_DRAWS_ORTHOGONAL : EGG_DRAWS_INDEPENDENT, s.draws,
                     s.amplitude, s.horizon, s.shift, 0, kOfSites});
    for (const uint32_t op : ops_of_sum(view, sites.back().value)) {
      for (const int32_t param : view.ops[op].param) {
        if (param < 0) continue;
        const bool masked = is_table(view, static_cast<uint32_t>(param));
        voters[static_cast<size_t>(param)] = {0, kOfSites, masked ? 1 : 0, 0, static_cast<int32_t>(sites.size())};
      }
    }
  }
  const egg_noise noise{5, EGG_NOISE_COUNTER, EGG_NOISE_RADEMACHER, 1, 2, 2, 0, 0, 0};
  constexpr uint32_t kMembers = 2 * kStreams;
  BackendSession session = backend.open_session(
      egg_session_spec{sizeof(egg_session_spec), threads, &view, &rule.view(), noise, kMembers, 0, kMembers, 0,
                       voters.data(), sites.data(), static_cast<uint32_t>(sites.size()), kTokens, 2});

  Draws draws(fnv1a(test.name));
  for (uint32_t i = 0; i < view.param_count; ++i) {
    std::vector<int8_t> weights(weight_count(view.params[i]));
    for (int8_t& weight : weights) weight = static_cast<int8_t>(static_cast<int32_t>(draws.below(61)) - 30);
    session.set_weights(i, weights.data());
  }
  Transcript transcript;
  for (uint32_t step = 0; step < kStepsOfCase; ++step) {
    std::vector<uint32_t> inputs;
    std::vector<uint32_t> targets;
    std::vector<uint8_t> resets;
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < kStreams * kTokens; ++i) {
      inputs.push_back(draws.below(static_cast<uint32_t>(test.vocab)));
      targets.push_back(draws.one_in(5) ? EGG_NO_TARGET : draws.below(static_cast<uint32_t>(test.vocab)));
      resets.push_back(draws.one_in(7) ? 1 : 0);
      rows.push_back(draws.one_in(6) ? EGG_NO_ROW : draws.below(8));
    }
    const egg_batch batch{kStreams, kTokens, inputs.data(), targets.data(), resets.data(), rows.data()};
    Array<int64_t> losses(kMembers);
    std::vector<egg_site_sums> sums(sites.size());
    session.evaluate({sizeof(egg_evaluate), 2, step, 0, kMembers, batch, losses.data(), nullptr, sums.data()});
    losses.append_to(transcript, fmt::format("losses of step {}", step));
    Array<int64_t> squares(2 * sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      squares[2 * i] = static_cast<int64_t>(sums[i].tokens);
      squares[2 * i + 1] = sums[i].squares;
    }
    squares.append_to(transcript, fmt::format("sums of step {}", step));
    std::vector<int8_t> fitness(kStreams);
    for (uint32_t k = kOfSites; k < kStreams; ++k) fitness[k] = draws.value();
    const std::vector<float> stds(view.param_count, 900.0F);
    Array<int64_t> changed(view.param_count);
    session.update({sizeof(egg_update), kStreams, step, fitness.data(), nullptr, stds.data(), changed.data(), nullptr,
                    batch, 2, 0, sums.data()});
    changed.append_to(transcript, fmt::format("changed counts of step {}", step));
  }
  for (uint32_t i = 0; i < view.param_count; ++i) {
    Array<int8_t> weights(weight_count(view.params[i]));
    session.get_weights(i, weights.data());
    weights.append_to(transcript, fmt::format("weights of '{}'", view.params[i].name));
    Array<uint32_t> kept(weight_count(view.params[i]));
    session.get_slot(i, 0, kept.data());
    kept.append_to(transcript, fmt::format("slot of '{}'", view.params[i].name));
  }
  Array<int8_t> states(size_t{kMembers} * program.state_bytes());
  session.get_states(0, kMembers, states.data());
  states.append_to(transcript, "states");
  return transcript;
}

}  // namespace eggroll
