// Steps with sites. The loss reads a sum of a table by token, a table by hash, a matrix and a bias. The program has a
// state and an attention. If a backend supports sites at values within the program, the steps have those too.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "conformance/cases.h"
#include "conformance/draws.h"
#include "conformance/random_program.h"
#include "conformance/session_parts.h"
#include "conformance/tables.h"
#include "data/streams.h"
#include "eggroll/draws.h"
#include "eggroll/sites.h"
#include "eggroll/spec.h"

namespace eggroll {
namespace {

constexpr uint32_t kStepsOfCase = 3;
constexpr int32_t kUnitOfCase = 9000;

// Two heads, and the sum of x and a matrix times the heads' output. The attention's number ends the names.
Value attended(ProgramBuilder& builder, Value x, const SiteCase& test, uint32_t number) {
  Draws draws(number);
  const int32_t head = test.width / 2;
  const auto name = [&](const std::string& what) { return what + std::to_string(number); };
  const auto product = [&](const std::string& what, Value in) {
    const Param matrix = builder.matrix(name("w_" + what), test.width, test.width, 16);
    return builder.wide_linear(name(what), in, matrix, 2);
  };
  const auto narrow = [&](const std::string& what, Value wide) {
    return builder.max_norm(name("narrow_" + what), wide);
  };
  const Table angles = builder.table(name("angles"), random_angles(draws, static_cast<int32_t>(test.tokens), head));
  const Table weights = builder.table(name("weights"), random_weights(draws, 1 << 14));
  const Value q = builder.rope(name("rotated_q"), narrow("q", product("q", x)), angles, head);
  const Value k = builder.rope(name("rotated_k"), narrow("k", product("k", x)), angles, head);
  const Value v = narrow("v", product("v", x));
  const Value mixed = builder.attention(name("mixed"), q, k, v, weights, head, EGG_WEIGHT_SOFTMAX, 10);
  return narrow("sum", builder.wide_add(name("sum"), product("made", mixed), x));
}

void build_program(ProgramBuilder& builder, const SiteCase& test) {
  const int32_t vocab = test.vocab;
  const int32_t width = test.width;
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
  Value x = builder.embed("x", embedding);
  if (test.attentions > 0) {
    const Value before = builder.state("before", width);  // which most draws do not change
    const Value summed = builder.add("x_and_before", x, before);
    builder.store(before, x);
    x = summed;
  }
  for (uint32_t i = 0; i < test.attentions; ++i) x = attended(builder, x, test, i);
  const Value from_x = builder.linear("from_x", x, w, 5);
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
  // Draws and channels of independent ones: more and fewer than one another, of whole words of signs and not.
  for (const auto& [vocab, draws] : {std::pair{2, 5U}, {11, 1U}, {64, 9U}, {70, 150U}, {300, 33U}}) {
    cases.push_back({fmt::format("output of {}, {} independent draws", vocab, draws),
                     vocab,
                     6,
                     {{"by_hash", draws, false, 2, 0, egg_log2_up(draws) + 2}}});
  }
  return cases;
}

std::vector<SiteCase> inner_site_cases(const std::vector<uint32_t>& horizons) {
  std::vector<SiteCase> cases;
  for (const bool orthogonal : {false, true}) {
    for (const uint32_t horizon : horizons) {
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

std::vector<SiteCase> attention_site_cases() {
  std::vector<SiteCase> cases;
  for (const uint32_t horizon : {0U, 3U}) {
    const std::vector<SiteCase::Site> sites = {{"x", 2, true, 4, horizon, 1},     {"q0", 3, false, 900, horizon, 1},
                                               {"k1", 2, true, 700, horizon, 1},  {"v0", 1, false, 300, horizon, 1},
                                               {"sum1", 3, true, 60, horizon, 1}, {"next", 1, false, 4, horizon, 1},
                                               {"by_hash", 9, true, 2, 0, 4}};
    cases.push_back({fmt::format("draws at two attentions, horizon {}", horizon), 11, 24, sites, 2, 35, 6});
  }
  return cases;
}

namespace {

// Streams [0, of_sites) have sites; the pairs of the others perturb parameters.
struct SiteRun {
  const Program& program;
  const Rule& rule;
  egg_noise noise;
  std::vector<egg_site> sites;
  std::vector<egg_voters> voters;
  uint32_t streams;
  uint32_t of_sites;
  uint32_t tokens;
};

// The tokens of a step: some without a target, some that reset the state, some that read no row.
BatchBuffer draw_batch(const SiteRun& test, Draws& draws) {
  const egg_program& view = test.program.view();
  const auto vocab = static_cast<uint32_t>(view.vocab);
  BatchBuffer batch{test.streams, test.tokens, {}, {}, {}, view.index_count, {}};
  for (uint32_t i = 0; i < test.streams * test.tokens; ++i) {
    batch.inputs.push_back(draws.below(vocab));
    batch.targets.push_back(draws.one_in(5) ? EGG_NO_TARGET : draws.below(vocab));
    batch.resets.push_back(draws.one_in(7) ? 1 : 0);
    for (uint32_t k = 0; k < view.index_count; ++k) {
      batch.rows.push_back(draws.one_in(6) ? EGG_NO_ROW : draws.below(static_cast<uint32_t>(view.indices[k].rows)));
    }
  }
  return batch;
}

void append_weights(SessionParts& session, const SiteRun& test, Transcript& transcript) {
  const egg_program& view = test.program.view();
  for (uint32_t i = 0; i < view.param_count; ++i) {
    Array<int8_t> weights(weight_count(view.params[i]));
    session.get_weights(i, weights.data());
    weights.append_to(transcript, fmt::format("weights of '{}'", view.params[i].name));
    for (uint32_t slot = 0; slot < test.rule.view().slot_count && view.params[i].perturbed != 0; ++slot) {
      Array<uint32_t> kept(weight_count(view.params[i]));
      session.get_slot(i, slot, kept.data());
      kept.append_to(transcript, fmt::format("slot of '{}'", view.params[i].name));
    }
  }
}

Transcript run(const BackendInstance& backend, const SiteRun& test, Draws draws, const Division& division) {
  const egg_program& view = test.program.view();
  const uint32_t members = 2 * test.streams;
  const egg_session_spec spec{sizeof(egg_session_spec),
                              division.threads,
                              &view,
                              &test.rule.view(),
                              test.noise,
                              members,
                              0,
                              members,
                              0,
                              test.voters.data(),
                              test.sites.data(),
                              static_cast<uint32_t>(test.sites.size()),
                              test.tokens,
                              2};
  SessionParts session(backend, spec, test.program, division.sessions);
  for (uint32_t i = 0; i < view.param_count; ++i) {
    std::vector<int8_t> weights(weight_count(view.params[i]));
    for (int8_t& weight : weights) weight = static_cast<int8_t>(static_cast<int32_t>(draws.below(61)) - 30);
    session.set_weights(i, weights.data());
  }
  Transcript transcript;
  for (uint32_t step = 0; step < kStepsOfCase; ++step) {
    const BatchBuffer drawn = draw_batch(test, draws);
    const egg_batch batch = drawn.view();
    Array<int64_t> losses(members);
    std::vector<egg_site_sums> sums(test.sites.size());
    session.evaluate({sizeof(egg_evaluate), 2, step, 0, members, batch, losses.data(), nullptr, sums.data()});
    losses.append_to(transcript, fmt::format("losses of step {}", step));
    Array<int64_t> squares(2 * sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      squares[2 * i] = static_cast<int64_t>(sums[i].tokens);
      squares[2 * i + 1] = sums[i].squares;
    }
    squares.append_to(transcript, fmt::format("sums of step {}", step));
    std::vector<int8_t> fitness(test.streams);
    for (uint32_t k = test.of_sites; k < test.streams; ++k) fitness[k] = draws.value();
    const std::vector<float> stds(view.param_count, 900.0F);
    const std::vector<float> scalars(test.rule.view().scalar_count);
    Array<int64_t> changed(view.param_count);
    session.update({sizeof(egg_update), test.streams, step, fitness.data(), scalars.data(), stds.data(), changed.data(),
                    nullptr, batch, 2, 0, sums.data()});
    changed.append_to(transcript, fmt::format("changed counts of step {}", step));
  }
  append_weights(session, test, transcript);
  Array<int8_t> states(size_t{members} * test.program.state_bytes());
  session.get_states(0, members, states.data());
  states.append_to(transcript, "states");
  return transcript;
}

// Gives the site those parameters of its sum that nothing else reads in another way. Returns whether there are any.
bool take_voters(const egg_program& program, SiteRun& test) {
  const std::vector<uint32_t> ops = ops_of_sum(program, test.sites.back().value);
  bool any = false;
  for (uint32_t p = 0; p < program.param_count; ++p) {
    uint32_t readers = 0;
    uint32_t of_sum = 0;
    uint32_t looked_up = 0;
    for (uint32_t i = 0; i < program.op_count; ++i) {
      const egg_op& op = program.ops[i];
      if (op.param[0] != static_cast<int32_t>(p) && op.param[1] != static_cast<int32_t>(p)) continue;
      ++readers;
      of_sum += std::find(ops.begin(), ops.end(), i) != ops.end() ? 1U : 0U;
      looked_up += op.code == EGG_OP_EMBED ? 1U : 0U;
    }
    if (program.params[p].perturbed == 0 || of_sum == 0 || of_sum < readers || looked_up % readers != 0) continue;
    test.voters[p] = {0, test.of_sites, is_table(program, p) ? 1 : 0, static_cast<int32_t>(test.sites.size())};
    any = true;
  }
  return any;
}

// Gives the case a site at the first possible value, counted from a random one on.
void draw_site(const egg_program& view, SiteRun& of_case, Draws& draws) {
  const uint32_t first = draws.below(view.op_count);
  for (uint32_t i = 0; i < view.op_count && of_case.sites.empty(); ++i) {
    const egg_op& op = view.ops[(first + i) % view.op_count];
    if (op.out < 0 || view.values[op.out].is_state != 0) continue;
    const bool at_loss = is_at_loss(view, op.out);
    const uint32_t horizon = at_loss ? 0 : draws.below(of_case.tokens);
    if (!at_loss && ops_behind(view, op.out, horizon > 0).ops.empty()) continue;
    const bool orthogonal = draws.one_in(2);
    const uint32_t rows = UINT32_C(1) << egg_log2_up(static_cast<uint32_t>(view.values[op.out].size));
    egg_site site{op.out,
                  orthogonal ? EGG_DRAWS_ORTHOGONAL : EGG_DRAWS_INDEPENDENT,
                  1 + draws.below(orthogonal ? std::min(rows, 20U) : 20),
                  1 + static_cast<int32_t>(
                          draws.below(view.values[op.out].is_wide != 0 ? EGG_WIDE_AMPLITUDE_MAX : EGG_AMPLITUDE_MAX)),
                  horizon,
                  static_cast<int32_t>(draws.below(12)),
                  0,
                  of_case.of_sites};
    // The host accepts this at the loss: a logit moves by 4 bits at most, and no difference is clipped.
    const int32_t unit = view.ops[view.op_count - 1].attr;
    while (at_loss && site.amplitude > 0 &&
           (site.amplitude * unit > 4 << 16 || 4 * site.amplitude * unit > egg_draw_limit(site.draws))) {
      --site.amplitude;
    }
    if (site.amplitude == 0) continue;
    of_case.sites.push_back(site);
    if (!take_voters(view, of_case)) of_case.sites.clear();
  }
}

}  // namespace

Transcript run_case(const BackendInstance& backend, const SiteCase& test, int threads, uint32_t sessions) {
  ProgramBuilder builder(test.vocab, 4, EGG_ROUND_NEAREST, test.attentions > 0 ? static_cast<int32_t>(test.tokens) : 0);
  build_program(builder, test);
  const Program program(*builder.view());
  RuleBuilder rule_builder;
  build_rule(rule_builder);
  const Rule rule(*rule_builder.view());
  constexpr uint32_t kOthers = 5;  // streams of pairs that perturb parameters
  const uint32_t of_sites = test.streams;
  SiteRun of_case{program,  rule,       {5, EGG_NOISE_COUNTER, EGG_NOISE_RADEMACHER, 1, 2, 2, 0},
                  {},       {},         of_sites + kOthers,
                  of_sites, test.tokens};
  of_case.voters.assign(program.params().size(), egg_voters{of_sites, kOthers, 0});
  for (const SiteCase::Site& s : test.sites) {
    of_case.sites.push_back({number_of(program.view(), s.value),
                             s.orthogonal ? EGG_DRAWS_ORTHOGONAL : EGG_DRAWS_INDEPENDENT, s.draws, s.amplitude,
                             s.horizon, s.shift, 0, of_sites});
    take_voters(program.view(), of_case);
  }
  require_no_overflow(program.view(), of_case.noise, of_case.sites);
  return run(backend, of_case, Draws(fnv1a(test.name)), {threads, sessions});
}

RandomSites random_sites(uint64_t seed, const BackendInstance& tested, const BackendInstance* reference) {
  Draws draws(seed, 7);
  const RandomCase test = random_program_case(seed);
  const std::unique_ptr<Program> program = make_program(test.program);
  const std::unique_ptr<Rule> rule = make_rule(test.rule);
  const egg_program& view = program->view();
  const uint32_t most_tokens = view.context > 0 ? static_cast<uint32_t>(view.context) : 4;
  const uint32_t of_sites = 1 + draws.below(36);
  SiteRun of_case{*program,
                  *rule,
                  test.scenario.noise,
                  {},
                  {},
                  of_sites + 1 + draws.below(4),
                  of_sites,
                  1 + draws.below(std::min(4U, most_tokens))};
  of_case.voters.assign(view.param_count, egg_voters{of_sites, of_case.streams - of_sites, 0});
  draw_site(view, of_case, draws);
  if (of_case.sites.empty()) return {};
  const egg_site& site = of_case.sites.front();
  const auto run_on = [&](const BackendInstance& backend, const Division& division) {
    return run(backend, of_case, Draws(seed, 8), division);
  };
  try {
    require_no_overflow(view, of_case.noise, of_case.sites);
    const Transcript actual = run_on(tested, {});
    std::string difference = first_difference(actual, run_on(tested, {3, 1}));
    if (!difference.empty()) difference = "three threads give another result than one: " + difference;
    const uint32_t sessions = std::min(3U, of_case.streams);
    if (difference.empty()) {
      difference = first_difference(actual, run_on(tested, {1, sessions}));
      if (!difference.empty()) difference = "sessions that share sites give another result than one: " + difference;
    }
    if (difference.empty() && reference != nullptr) difference = first_difference(run_on(*reference, {}), actual);
    if (difference.empty()) return {true, ""};
    return {true, fmt::format("{}; {} draws of '{}', {}, amplitude {}, horizon {}, shift {}, {} of {} streams of {} "
                              "tokens\n{}{}",
                              difference, site.draws, view.values[site.value].name,
                              site.design == EGG_DRAWS_ORTHOGONAL ? "orthogonal" : "independent", site.amplitude,
                              site.horizon, site.shift, of_sites, of_case.streams, of_case.tokens, program->text(),
                              rule->text())};
  } catch (const Error& error) {
    if (error.code() == EGG_ERROR_UNSUPPORTED) return {};
    return {true, error.what()};
  }
}

}  // namespace eggroll
