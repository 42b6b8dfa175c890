// Opened backends: what a session passes on, what it refuses, and in what order it closes.
#include <functional>
#include <optional>
#include <string>

#include "abi_support.h"
#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"

namespace eggroll {
namespace {

BackendInstance open_backend(const std::filesystem::path& log) {
  return open<BackendInstance>(EGG_KIND_BACKEND, "slow", {text("log", log.c_str())});
}

class BackendInstanceTest : public ScratchTest {
 protected:
  const std::filesystem::path log_ = folder_ / "log";
  std::optional<BackendInstance> backend_{open_backend(log_)};
  egg_session_spec spec_{};
};

// sizes: the sizes of a chain of adds. gru: whether the gru ops follow the chain.
void build(ProgramBuilder& builder, const std::vector<int32_t>& sizes, bool gru) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Value state = builder.state("state" + std::to_string(i), sizes[i]);
    Value x = builder.add("sum" + std::to_string(i), state, state);
    if (gru)
      x = builder.gru_mix("mix" + std::to_string(i), x, state, builder.gru_gate("gate" + std::to_string(i), x, x));
    builder.store(state, x);
  }
  builder.loss(builder.embed("logits", builder.matrix("table", 4, 4, 16)), 4096);
}

TEST_F(BackendInstanceTest, NamesAllThatItLacksInOneSentence) {
  ProgramBuilder small(4, 4, EGG_ROUND_NEAREST);
  build(small, {8}, false);
  RuleBuilder plain;
  plain.delta(plain.constant(0));
  EXPECT_NO_THROW(backend_->require_support(*small.view(), *plain.view()));
  EXPECT_TRUE(backend_->supports_op(*small.view(), 0));
  EXPECT_TRUE(backend_->supports_rule_op(EGG_RULE_FADD));

  ProgramBuilder large(4, 4, EGG_ROUND_NEAREST);
  build(large, {8, 9, 10}, true);
  RuleBuilder root;
  const Node vote = root.op(EGG_RULE_FSQRT, {root.vote_f32()});
  root.delta(root.op(EGG_RULE_TRUNC_I32, {root.op(EGG_RULE_FSQRT, {vote})}));
  EXPECT_FALSE(backend_->supports_rule_op(EGG_RULE_FSQRT));
  EXPECT_EQ(
      message_of([&] { backend_->require_support(*large.view(), *root.view()); }),
      "backend 'slow' lacks add (of sum1, sum2), gru_gate (of gate0, gate1, gate2), gru_mix (of mix0, mix1, mix2), "
      "fsqrt (of the rule); choose another backend");
}

TEST_F(BackendInstanceTest, NamesTheSiteThatItLacks) {
  ProgramBuilder builder(4, 4, EGG_ROUND_NEAREST);
  builder.loss(builder.embed("logits", builder.matrix("table", 4, 4, 16)), 4096);
  const egg_site site{0, EGG_DRAWS_INDEPENDENT, 3, 2, 0, 5, 0, 1};
  spec_.program = builder.view();
  spec_.sites = &site;
  spec_.site_count = 1;
  EXPECT_EQ(message_of([&] { backend_->plan_session(spec_); }),
            "backend 'slow' cannot perturb the value 'logits' by 3 independent draws a token; choose another backend "
            "(docs/sites.md says what each has)");
}

// The last op of a program, which says what a loss can be.
constexpr egg_op kLoss{EGG_OP_LOSS, -1, {0, -1, -1}, {-1, -1}, 4096, -1, 0, 0};

TEST_F(BackendInstanceTest, CallsReachTheSession) {
  std::vector<egg_param> params(4, egg_param{"w", EGG_PARAM_VECTOR, 1, 1, 0, 0, 1});
  params[0].rows = 200;  // the stub's answer may be a count of its weights
  const egg_value state{"s", 1, 1, 0, 0};
  egg_program program{};
  program.ops = &kLoss;
  program.op_count = 1;
  program.params = params.data();
  program.param_count = 4;
  program.values = &state;
  program.value_count = 1;
  spec_.program = &program;
  spec_.population = 4;
  BackendSession session = backend_->open_session(spec_);

  const int8_t weight = 77;
  session.set_weights(3, &weight);
  int8_t read = 0;
  session.get_weights(3, &read);
  EXPECT_EQ(read, 77);

  const int32_t cell = -5;
  session.set_slot(1, 2, &cell);
  int32_t slot = 0;
  session.get_slot(1, 2, &slot);
  EXPECT_EQ(static_cast<int8_t>(slot), -5);

  const std::vector<int8_t> states{1, 2, 3};
  session.set_states(5, 3, states.data());
  std::vector<int8_t> back(3);
  session.get_states(5, 3, back.data());
  EXPECT_EQ(back, states);

  // The stub answers with the size that it was told.
  int64_t loss = 0;
  egg_evaluate evaluate{};
  evaluate.losses = &loss;
  evaluate.count = 1;
  evaluate.batch.tokens = 1;
  session.evaluate(evaluate);
  EXPECT_EQ(loss, int64_t{sizeof(egg_evaluate)});
  std::vector<int64_t> changed(4);
  egg_update update{};
  update.changed = changed.data();
  session.update(update);
  EXPECT_EQ(changed.front(), int64_t{sizeof(egg_update)});
}

// Without the step's batch a backend could not tell who votes on which row.
TEST_F(BackendInstanceTest, AnUpdateOfAMaskedParameterTakesWhatAllMembersRead) {
  ProgramBuilder builder(200, 4, EGG_ROUND_NEAREST);
  const Index index = builder.index(2, 256);
  builder.loss(builder.embed("logits", builder.matrix("table", 256, 200, 16), index), 4096);
  egg_voters voters{0, 4, 1};
  spec_.program = builder.view();
  spec_.population = 8;
  spec_.voters = &voters;
  BackendSession session = backend_->open_session(spec_);
  const std::vector<uint32_t> inputs(2);
  int64_t changed = 0;
  const auto refusal_of = [&](uint32_t streams, uint32_t members_per_stream, const uint32_t* read,
                              const uint32_t* rows) {
    egg_update update{};
    update.changed = &changed;
    update.batch = {streams, 1, read, nullptr, nullptr, rows};
    update.members_per_stream = members_per_stream;
    return message_of([&] { session.update(update); });
  };
  EXPECT_EQ(refusal_of(2, 4, inputs.data(), inputs.data()), "");
  const std::string refusal =
      "an update of a masked parameter was not told what all members read; pass the step's batch";
  EXPECT_EQ(refusal_of(1, 4, inputs.data(), inputs.data()), refusal);
  EXPECT_EQ(refusal_of(2, 0, inputs.data(), inputs.data()), refusal);
  EXPECT_EQ(refusal_of(2, 4, nullptr, inputs.data()), refusal);
  EXPECT_EQ(refusal_of(2, 4, inputs.data(), nullptr), refusal);
  EXPECT_EQ(refusal_of(0, 0, nullptr, nullptr), refusal);
  voters.masked = 0;
  EXPECT_EQ(refusal_of(0, 0, nullptr, nullptr), "");
}

using Buffers = std::vector<std::pair<const char*, std::string>>;  // the plugin's names, and the sentence's

// Each array that a backend fills is overrun by one element, by several, and before its beginning.
void expect_overruns_named(const egg_session_spec& spec, const std::function<void(BackendSession&)>& call,
                           const Buffers& buffers) {
  const auto sentence_of = [&](const char* function, int64_t at) {
    const auto backend =
        open<BackendInstance>(EGG_KIND_BACKEND, "overruns", {text("function", function), integer("at", at)});
    BackendSession session = backend.open_session(spec);
    return message_of([&] { call(session); });
  };
  EXPECT_EQ(sentence_of("none", 0), "");
  for (const auto& [function, buffer] : buffers) {
    for (const int64_t at : {0, 90, -1}) {
      EXPECT_EQ(sentence_of(function, at),
                "backend 'overruns' wrote outside the buffer of " + buffer + "(); fix the plugin");
    }
  }
}

TEST(BackendSession, ThatWritesOutsideAnArrayIsNamed) {
  ProgramBuilder builder(4, 4, EGG_ROUND_NEAREST);
  const Value state = builder.state("state", 5);
  builder.store(state, builder.add("sum", state, state));
  builder.matrix("unused", 2, 3, 16);
  builder.loss(builder.embed("logits", builder.matrix("table", 4, 4, 16)), 4096);
  egg_session_spec spec{};
  spec.program = builder.view();
  spec.population = 4;
  spec.members = 4;
  const auto call = [&](BackendSession& session) {
    std::vector<int8_t> weights(6);
    session.get_weights(0, weights.data());
    EXPECT_EQ(weights, std::vector<int8_t>(6, 5));
    std::vector<int32_t> cells(6);
    session.get_slot(0, 0, cells.data());
    EXPECT_EQ(cells, std::vector<int32_t>(6, 5));
    std::vector<int8_t> states(15);
    session.get_states(1, 3, states.data());
    EXPECT_EQ(states, std::vector<int8_t>(15, 5));
    std::vector<int64_t> losses(4);
    egg_evaluate evaluate{};
    evaluate.count = 4;
    evaluate.batch.tokens = 1;
    evaluate.losses = losses.data();
    session.evaluate(evaluate);
    EXPECT_EQ(losses, std::vector<int64_t>(4, 5));
    std::vector<int64_t> changed(2);
    egg_update update{};
    update.changed = changed.data();
    session.update(update);
    EXPECT_EQ(changed, std::vector<int64_t>(2, 5));
    std::vector<int8_t> logits(12);
    egg_infer infer{};
    infer.batch.streams = 3;
    infer.batch.tokens = 1;
    infer.states = states.data();
    infer.losses = losses.data();
    infer.logits = logits.data();
    session.infer(infer);
    EXPECT_EQ(logits, std::vector<int8_t>(12, 5));
  };
  expect_overruns_named(spec, call,
                        {{"get_weights", "6 weights in get_weights"},
                         {"get_slot", "6 cells in get_slot"},
                         {"get_states", "15 states in get_states"},
                         {"evaluate", "4 losses in evaluate"},
                         {"update", "2 changed counts in update"},
                         {"infer states", "15 states in infer"},
                         {"infer losses", "3 losses in infer"},
                         {"infer logits", "12 logits in infer"}});
}

TEST(BackendSession, ThatWritesOutsideAPartOfASiteIsNamed) {
  ProgramBuilder builder(4, 4, EGG_ROUND_NEAREST);
  const Value state = builder.state("state", 5);
  const Value product = builder.linear("product", state, builder.matrix("w", 4, 5, 16), 4);
  builder.loss(builder.embed("logits", builder.matrix("table", 4, 4, 16), {}, product), 4096);
  const egg_program& program = *builder.view();
  const egg_voters voters[] = {{0, 2, 0, 1}, {0, 2, 1, 1}};
  const egg_site site{program.ops[program.op_count - 1].in[0], EGG_DRAWS_ORTHOGONAL, 4, 1, 0, 0, 0, 2};
  const egg_session_spec spec{0, 0, &program, nullptr, {}, 4, 0, 4, 0, voters, &site, 1, 2, 4, 0};
  const auto call = [](BackendSession& session) {
    std::vector<int16_t> errors(8);
    std::vector<uint8_t> perturbed(2);
    std::vector<int64_t> votes(25);
    session.get_site_part({sizeof(egg_site_part), 0, 0, 1, errors.data(), perturbed.data(), votes.data()});
    EXPECT_EQ(errors, std::vector<int16_t>(8, 5));
    EXPECT_EQ(perturbed, std::vector<uint8_t>(2, 5));
    EXPECT_EQ(votes, std::vector<int64_t>(25, 5));
  };
  expect_overruns_named(spec, call,
                        {{"part errors", "8 errors in get_site_part"},
                         {"part perturbed", "2 perturbed tokens in get_site_part"},
                         {"part votes", "25 votes in get_site_part"}});
}

TEST_F(BackendInstanceTest, PlansASession) {
  spec_.population = 8;
  const SessionPlan plan = backend_->plan_session(spec_);
  EXPECT_EQ(plan.memory, sizeof(egg_session_spec) + 8);  // the stub adds the size that it was told
  EXPECT_EQ(plan.device, "a stub");
  EXPECT_EQ(plan.plan, "nothing is computed");
  spec_.population = 10;
  try {
    backend_->plan_session(spec_);
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "backend 'slow': a population of 10 takes 3.0 GiB of memory, expected at most the 12.0 MiB that there "
                 "is room for; use at most 8 members or a smaller model");
    EXPECT_EQ(e.code(), EGG_ERROR_MEMORY);
  }
}

TEST_F(BackendInstanceTest, RefusesPlansThatSayNothing) {
  const auto refusal = [&](uint32_t population) {
    spec_.population = population;
    return message_of([&] { backend_->plan_session(spec_); });
  };
  EXPECT_EQ(refusal(0), "backend 'slow' plans a session that takes no memory; fix the plugin");
  EXPECT_EQ(refusal(2), "backend 'slow': the session's device takes 300 characters, expected at most 239; shorten it");
  EXPECT_EQ(refusal(4),
            "backend 'slow' gave '' as a session's device, expected one line of 1 to 239 characters; fix the plugin");
  EXPECT_EQ(refusal(6),
            "backend 'slow' gave 'two lines' as a session's plan, expected one line of 1 to 511 characters; fix the "
            "plugin");
}

TEST(LargestPopulation, IsEvenAndTheNextDoesNotFit) {
  const auto memory = [](uint32_t population) { return uint64_t{100} + 3 * uint64_t{population}; };
  EXPECT_EQ(largest_population(1000, 129, memory), 8U);
  EXPECT_EQ(largest_population(1000, 130, memory), 10U);
  EXPECT_EQ(largest_population(6, 130, memory), 6U);
  EXPECT_EQ(largest_population(1000, 105, memory), 0U);
  EXPECT_EQ(largest_population(UINT32_MAX - 1, UINT64_MAX, memory), UINT32_MAX - 1);
}

TEST_F(BackendInstanceTest, FailuresAreLedByItsName) {
  const egg_program program{};
  spec_.program = &program;
  spec_.population = 10;
  EXPECT_EQ(message_of([&] { backend_->open_session(spec_); }), "backend 'slow': population is above 8; use 8 or less");
  spec_.population = 0;
  EXPECT_EQ(message_of([&] { backend_->open_session(spec_); }), "backend 'slow' gave no session; fix the plugin");
  spec_.population = 2;
  BackendSession session = backend_->open_session(spec_);
  try {
    session.infer(egg_infer{});
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "backend 'slow': the device is lost; restart it");
    EXPECT_EQ(e.code(), EGG_ERROR_DEVICE);
  }
}

TEST_F(BackendInstanceTest, RefusesToReadPastTheContext) {
  egg_program program{};
  program.ops = &kLoss;
  program.op_count = 1;
  program.context = 2;
  spec_.program = &program;
  spec_.population = 4;
  BackendSession session = backend_->open_session(spec_);
  const std::string refusal =
      "a call reads 3 tokens, expected at most 2, the context of the model's program; read fewer";
  egg_evaluate evaluate{};
  int64_t loss = 0;
  evaluate.losses = &loss;
  evaluate.count = 1;
  evaluate.batch.tokens = 3;
  EXPECT_EQ(message_of([&] { session.evaluate(evaluate); }), refusal);
  evaluate.batch.tokens = 2;
  EXPECT_EQ(message_of([&] { session.evaluate(evaluate); }), "");
  egg_infer infer{};
  infer.batch.tokens = 3;
  EXPECT_EQ(message_of([&] { session.infer(infer); }), refusal);
}

TEST_F(BackendInstanceTest, ClosesSessionsFirstAndItselfLast) {
  spec_.population = 4;
  {
    std::optional<BackendSession> session(backend_->open_session(spec_));
    std::optional<BackendSession> moved(std::move(*session));
    session.reset();
    spec_.population = 2;  // the session keeps its own copy
    backend_.reset();
    EXPECT_FALSE(std::filesystem::exists(log_));
  }
  EXPECT_EQ(read_file(log_), "session of 4 closed\nbackend closed\n");
}

}  // namespace
}  // namespace eggroll
