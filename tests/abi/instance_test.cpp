// Opened plugins: what they give, how they fail, in what order they close.
#include "plugin/instance.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "abi_support.h"
#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "plugin/watchdog.h"
#include "program/program.h"
#include "program/rule.h"

namespace eggroll {
namespace {

using testing::ElementsAre;

egg_setting integer(const char* key, int64_t value) {
  return egg_setting{key, EGG_SETTING_INTEGER, 0, value, static_cast<double>(value), nullptr};
}

egg_setting text(const char* key, const char* value) { return egg_setting{key, EGG_SETTING_TEXT, 0, 0, 0.0, value}; }

// Opens the plugin of that name with settings that are gone when this returns.
template <class Kind>
Kind open(egg_kind kind, const std::string& name, const std::vector<egg_setting>& items) {
  const egg_settings settings{sizeof(egg_settings), static_cast<uint32_t>(items.size()), items.data()};
  return Kind(registry_of({name}).choose(kind, name), settings);
}

ModelInstance open_model(const std::string& name, const std::vector<egg_setting>& items) {
  return open<ModelInstance>(EGG_KIND_MODEL, name, items);
}

BackendInstance open_backend(const std::filesystem::path& log) {
  return open<BackendInstance>(EGG_KIND_BACKEND, "slow", {text("log", log.c_str())});
}

TEST(ModelInstance, OfACPluginGivesAProgram) {
  const ModelInstance model = open_model("c_model", {integer("vocab", 5)});
  EXPECT_EQ(model.who(), "model 'c_model'");
  const Program program(model.program());
  EXPECT_EQ(program.view().vocab, 5);
  EXPECT_EQ(program.ops().size(), 2U);
  EXPECT_STREQ(program.params().front().name, "table");
}

TEST(ModelInstance, PassesOnWhichSettingIsAtFault) {
  try {
    open_model("c_model", {integer("vocab", 1)});
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "model 'c_model': vocab is out of range, expected an integer from 2 to 256");
    EXPECT_EQ(e.key(), "vocab");
    EXPECT_EQ(e.code(), EGG_ERROR_CONFIG);
  }
}

TEST(ModelInstance, WithoutAProgramIsRefused) {
  EXPECT_EQ(error_of([] { open_model("no_program", {}); }), "model 'no_program' gave no program; fix the plugin");
}

TEST(ModelInstance, ThatThrowsAcrossTheSeamIsRefused) {
  EXPECT_EQ(error_of([] { open_model("throws_in_open", {text("what", "runtime_error")}); }),
            "model 'throws_in_open' threw an exception across the plugin seam: no such device; fix the plugin");
  EXPECT_EQ(error_of([] { open_model("throws_in_open", {text("what", "unknown")}); }),
            "model 'throws_in_open' threw an exception of unknown type across the plugin seam; fix the plugin");
}

TEST(ModelInstance, ThatRefusesDoesSoInOnePrintableLine) {
  EXPECT_EQ(error_of([] { open_model("shouts", {}); }), "model 'shouts': no room for \xef\xbf\xbd[2Jthis\xef\xbf\xbd");
}

TEST(ModelInstance, ThatHangsIsAbandoned) {
  const auto begin = std::chrono::steady_clock::now();
  // The plugin goes on reading its settings; these strings are freed at once.
  const auto word = std::make_unique<std::string>("still here");
  EXPECT_EQ(error_of([&] { open_model("hangs_in_open", {text("word", word->c_str())}); }),
            "plugin 'hangs_in_open' has not returned from open within 1 s; fix or remove " +
                plugin_path("hangs_in_open").string());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kHangLimit);
}

TEST(Instance, OfAnotherKindOrRejectedIsRefused) {
  const egg_settings none{sizeof(egg_settings), 0, nullptr};
  EXPECT_EQ(error_of([&] { BackendInstance(registry_of({"c_model"}).choose(EGG_KIND_MODEL, "c_model"), none); }),
            "model 'c_model' cannot be opened as a backend; choose another");
  const ChosenPlugin rejected{registry_of({"wrong_spec"}).files().front(), "", "", kTestLimit};
  EXPECT_EQ(error_of([&] { ModelInstance(rejected, none); }),
            "model 'wrong_spec' cannot be opened as a model; choose another");
}

TEST(OptimizerInstance, GivesARuleAndTheScalarsOfAStep) {
  const auto optimizer = open<OptimizerInstance>(EGG_KIND_OPTIMIZER, "ramp", {integer("limit", 10)});
  EXPECT_EQ(optimizer.rule().scalar_count, 2U);
  EXPECT_EQ(optimizer.rule().node_count, 4U);
  EXPECT_THAT(optimizer.scalars(0, {}), ElementsAre(0.0F, -1.0F));
  const std::vector<egg_evaluation> evaluations = {{0, 800, 10}, {5, 70, 20}};
  EXPECT_THAT(optimizer.scalars(9, evaluations), ElementsAre(9.0F, 3.5F));
  EXPECT_EQ(error_of([&] { optimizer.scalars(10, evaluations); }), "optimizer 'ramp': the ramp ends here; raise limit");
}

// The adapter asks for what the plugin's author forgets: whether every setting was read.
TEST(OptimizerInstance, ThatDoesNotReadAllItsSettingsRefusesTheRest) {
  const auto refusal = [](const std::vector<egg_setting>& items) {
    return error_of([&] { open<OptimizerInstance>(EGG_KIND_OPTIMIZER, "unfinished", items); });
  };
  EXPECT_EQ(refusal({integer("limit", 1)}), "nothing was thrown");
  EXPECT_EQ(refusal({integer("limit", 1), integer("limits", 2)}),
            "optimizer 'unfinished': unknown key 'limits'; did you mean 'limit'? (correct or remove it)");
}

OptimizerInstance open_hostile(const char* fault) {
  return open<OptimizerInstance>(EGG_KIND_OPTIMIZER, "hostile_rule", {text("fault", fault)});
}

TEST(OptimizerInstance, ThatWritesOutsideItsScalarsIsNamed) {
  const std::string sentence =
      "optimizer 'hostile_rule' wrote outside the buffer of 1 scalars in scalars(); fix the plugin";
  EXPECT_EQ(error_of([] { open_hostile("writes_behind").scalars(0, {}); }), sentence);
  EXPECT_EQ(error_of([] { open_hostile("writes_before").scalars(0, {}); }), sentence);
  EXPECT_THAT(open_hostile("none").scalars(0, {}), ElementsAre(0.0F));
}

TEST(OptimizerInstance, WhoseScalarIsNotFiniteIsRefusedAtThatStep) {
  const OptimizerInstance nan = open_hostile("nan");
  EXPECT_THAT(nan.scalars(2, {}), ElementsAre(0.0F));
  EXPECT_EQ(
      error_of([&] { nan.scalars(3, {}); }),
      "optimizer 'hostile_rule' gave nan as the scalar 'rate' of step 3, expected a finite number; fix the plugin "
      "or its settings");
  EXPECT_EQ(error_of([] { open_hostile("infinite").scalars(7, {}); }),
            "optimizer 'hostile_rule' gave -inf as the scalar 'rate' of step 7, expected a finite number; fix the "
            "plugin or its settings");
}

TEST(OptimizerInstance, WhoseNamesFitNoFileGivesNoRule) {
  const auto fault = [](const char* name) { return error_of([&] { Rule(open_hostile(name).rule()); }); };
  const auto sentence = [](const std::string& what) {
    return "the optimizer's rule is wrong: " + what + "; fix the optimizer plugin";
  };
  EXPECT_EQ(fault("none"), "nothing was thrown");
  EXPECT_EQ(fault("scalar_of_the_host"), sentence("scalar 'step' has the name of a figure that the host writes beside "
                                                  "it, expected another name"));
  EXPECT_EQ(fault("scalar_no_text"),
            sentence("scalar 0: the name 'lr\xef\xbf\xbd' has characters other than a-z, 0-9, underscores and dots"));
  EXPECT_EQ(fault("slot_with_a_slash"),
            sentence("slot 0: the name 'a/b' has characters other than a-z, 0-9, underscores and dots"));
  EXPECT_EQ(fault("twin_slots"), sentence("two slots are named 'm'"));
}

class BackendInstanceTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path log_ = folder_.path() / "log";
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
  const BackendInstance backend = open_backend(log_);
  ProgramBuilder small(4, 4, EGG_ROUND_NEAREST);
  build(small, {8}, false);
  RuleBuilder plain;
  plain.delta(plain.constant(0));
  EXPECT_NO_THROW(backend.require_support(*small.view(), *plain.view()));
  EXPECT_TRUE(backend.supports_op(*small.view(), 0));
  EXPECT_TRUE(backend.supports_rule_op(EGG_RULE_FADD));

  ProgramBuilder large(4, 4, EGG_ROUND_NEAREST);
  build(large, {8, 9, 10}, true);
  RuleBuilder root;
  const Node vote = root.op(EGG_RULE_FSQRT, {root.vote_f32()});
  root.delta(root.op(EGG_RULE_TRUNC_I32, {root.op(EGG_RULE_FSQRT, {vote})}));
  EXPECT_FALSE(backend.supports_rule_op(EGG_RULE_FSQRT));
  EXPECT_EQ(
      error_of([&] { backend.require_support(*large.view(), *root.view()); }),
      "backend 'slow' lacks add (of sum1, sum2), gru_gate (of gate0, gate1, gate2), gru_mix (of mix0, mix1, mix2), "
      "fsqrt (of the rule); choose another backend");
}

TEST_F(BackendInstanceTest, NamesTheSiteThatItLacks) {
  const BackendInstance backend = open_backend(log_);
  ProgramBuilder builder(4, 4, EGG_ROUND_NEAREST);
  builder.loss(builder.embed("logits", builder.matrix("table", 4, 4, 16)), 4096);
  const egg_site site{0, EGG_DRAWS_INDEPENDENT, 3, 2, 0, 5, 0, 1};
  egg_session_spec spec{};
  spec.program = builder.view();
  spec.sites = &site;
  spec.site_count = 1;
  EXPECT_EQ(error_of([&] { backend.plan_session(spec); }),
            "backend 'slow' cannot perturb the value 'logits' by 3 independent draws a token; choose another backend "
            "(docs/sites.md says what each has)");
}

// The last op of a program, which says what a loss can be.
constexpr egg_op kLoss{EGG_OP_LOSS, -1, {0, -1, -1}, {-1, -1}, 4096, -1, 0, 0};

TEST_F(BackendInstanceTest, CallsReachTheSession) {
  const BackendInstance backend = open_backend(log_);
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
  egg_session_spec spec{};
  spec.program = &program;
  spec.population = 4;
  BackendSession session = backend.open_session(spec);

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
  const BackendInstance backend = open_backend(log_);
  ProgramBuilder builder(200, 4, EGG_ROUND_NEAREST);
  const Index index = builder.index(2, 256);
  builder.loss(builder.embed("logits", builder.matrix("table", 256, 200, 16), index), 4096);
  egg_voters voters{0, 4, 1};
  egg_session_spec spec{};
  spec.program = builder.view();
  spec.population = 8;
  spec.voters = &voters;
  BackendSession session = backend.open_session(spec);
  const std::vector<uint32_t> inputs(2);
  int64_t changed = 0;
  const auto refusal_of = [&](uint32_t streams, uint32_t members_per_stream, const uint32_t* read,
                              const uint32_t* rows) {
    egg_update update{};
    update.changed = &changed;
    update.batch = {streams, 1, read, nullptr, nullptr, rows};
    update.members_per_stream = members_per_stream;
    return error_of([&] { session.update(update); });
  };
  EXPECT_EQ(refusal_of(2, 4, inputs.data(), inputs.data()), "nothing was thrown");
  const std::string refusal =
      "an update of a masked parameter was not told what all members read; pass the step's batch";
  EXPECT_EQ(refusal_of(1, 4, inputs.data(), inputs.data()), refusal);
  EXPECT_EQ(refusal_of(2, 0, inputs.data(), inputs.data()), refusal);
  EXPECT_EQ(refusal_of(2, 4, nullptr, inputs.data()), refusal);
  EXPECT_EQ(refusal_of(2, 4, inputs.data(), nullptr), refusal);
  EXPECT_EQ(refusal_of(0, 0, nullptr, nullptr), refusal);
  voters.masked = 0;
  EXPECT_EQ(refusal_of(0, 0, nullptr, nullptr), "nothing was thrown");
}

struct Overrun {
  const char* function;
  const char* buffer;
};

// Each array that a backend fills is overrun by one element, by several, and before its beginning.
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
  const auto sentence_of = [&](const char* function, int64_t at) {
    const auto backend =
        open<BackendInstance>(EGG_KIND_BACKEND, "overruns", {text("function", function), integer("at", at)});
    BackendSession session = backend.open_session(spec);
    return error_of([&] { call(session); });
  };
  EXPECT_EQ(sentence_of("none", 0), "nothing was thrown");
  for (const Overrun& overrun :
       {Overrun{"get_weights", "6 weights in get_weights"}, Overrun{"get_slot", "6 cells in get_slot"},
        Overrun{"get_states", "15 states in get_states"}, Overrun{"evaluate", "4 losses in evaluate"},
        Overrun{"update", "2 changed counts in update"}, Overrun{"infer states", "15 states in infer"},
        Overrun{"infer losses", "3 losses in infer"}, Overrun{"infer logits", "12 logits in infer"}}) {
    for (const int64_t at : {0, 90, -1}) {
      EXPECT_EQ(sentence_of(overrun.function, at),
                fmt::format("backend 'overruns' wrote outside the buffer of {}(); fix the plugin", overrun.buffer));
    }
  }
}

TEST(BackendSession, ThatWritesOutsideAPartOfASiteIsNamed) {
  ProgramBuilder builder(4, 4, EGG_ROUND_NEAREST);
  const Value state = builder.state("state", 5);
  const Value product = builder.linear("product", state, builder.matrix("w", 4, 5, 16), 4);
  builder.loss(builder.embed("logits", builder.matrix("table", 4, 4, 16), {}, product), 4096);
  const egg_program& program = *builder.view();
  const egg_voters voters[] = {{0, 2, 0, 1}, {0, 2, 1, 1}};
  const egg_site site{program.ops[program.op_count - 1].in[0], EGG_DRAWS_ORTHOGONAL, 4, 1, 0, 0, 0, 2};
  egg_session_spec spec{};
  spec.program = &program;
  spec.population = 4;
  spec.members = 4;
  spec.voters = voters;
  spec.sites = &site;
  spec.site_count = 1;
  spec.tokens = 2;
  spec.members_per_stream = 4;
  const auto sentence_of = [&](const char* function, int64_t at) {
    const auto backend =
        open<BackendInstance>(EGG_KIND_BACKEND, "overruns", {text("function", function), integer("at", at)});
    BackendSession session = backend.open_session(spec);
    std::vector<int16_t> errors(8);
    std::vector<uint8_t> perturbed(2);
    std::vector<int64_t> votes(25);
    return error_of([&] {
      session.get_site_part({sizeof(egg_site_part), 0, 0, 1, errors.data(), perturbed.data(), votes.data()});
      EXPECT_EQ(errors, std::vector<int16_t>(8, 5));
      EXPECT_EQ(perturbed, std::vector<uint8_t>(2, 5));
      EXPECT_EQ(votes, std::vector<int64_t>(25, 5));
    });
  };
  EXPECT_EQ(sentence_of("none", 0), "nothing was thrown");
  for (const Overrun& overrun : {Overrun{"part errors", "8 errors in get_site_part"},
                                 Overrun{"part perturbed", "2 perturbed tokens in get_site_part"},
                                 Overrun{"part votes", "25 votes in get_site_part"}}) {
    for (const int64_t at : {0, 90, -1}) {
      EXPECT_EQ(sentence_of(overrun.function, at),
                fmt::format("backend 'overruns' wrote outside the buffer of {}(); fix the plugin", overrun.buffer));
    }
  }
}

TEST_F(BackendInstanceTest, PlansASession) {
  const BackendInstance backend = open_backend(log_);
  egg_session_spec spec{};
  spec.population = 8;
  const SessionPlan plan = backend.plan_session(spec);
  EXPECT_EQ(plan.memory, sizeof(egg_session_spec) + 8);  // the stub adds the size that it was told
  EXPECT_EQ(plan.device, "a stub");
  EXPECT_EQ(plan.plan, "nothing is computed");
  spec.population = 10;
  try {
    backend.plan_session(spec);
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "backend 'slow': a population of 10 takes 3.0 GiB of memory, expected at most the 12.0 MiB that there "
                 "is room for; use at most 8 members or a smaller model");
    EXPECT_EQ(e.code(), EGG_ERROR_MEMORY);
  }
}

TEST_F(BackendInstanceTest, RefusesPlansThatSayNothing) {
  const BackendInstance backend = open_backend(log_);
  const auto refusal = [&](uint32_t population) {
    egg_session_spec spec{};
    spec.population = population;
    return error_of([&] { backend.plan_session(spec); });
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
  const BackendInstance backend = open_backend(log_);
  const egg_program program{};
  egg_session_spec spec{};
  spec.program = &program;
  spec.population = 10;
  EXPECT_EQ(error_of([&] { backend.open_session(spec); }), "backend 'slow': population is above 8; use 8 or less");
  spec.population = 0;
  EXPECT_EQ(error_of([&] { backend.open_session(spec); }), "backend 'slow' gave no session; fix the plugin");
  spec.population = 2;
  BackendSession session = backend.open_session(spec);
  try {
    session.infer(egg_infer{});
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "backend 'slow': the device is lost; restart it");
    EXPECT_EQ(e.code(), EGG_ERROR_DEVICE);
  }
}

TEST_F(BackendInstanceTest, RefusesToReadPastTheContext) {
  const BackendInstance backend = open_backend(log_);
  egg_program program{};
  program.ops = &kLoss;
  program.op_count = 1;
  program.context = 2;
  egg_session_spec spec{};
  spec.program = &program;
  spec.population = 4;
  BackendSession session = backend.open_session(spec);
  const std::string refusal =
      "a call reads 3 tokens, expected at most 2, the context of the model's program; read fewer";
  egg_evaluate evaluate{};
  int64_t loss = 0;
  evaluate.losses = &loss;
  evaluate.count = 1;
  evaluate.batch.tokens = 3;
  EXPECT_EQ(error_of([&] { session.evaluate(evaluate); }), refusal);
  evaluate.batch.tokens = 2;
  EXPECT_EQ(error_of([&] { session.evaluate(evaluate); }), "nothing was thrown");
  egg_infer infer{};
  infer.batch.tokens = 3;
  EXPECT_EQ(error_of([&] { session.infer(infer); }), refusal);
}

TEST_F(BackendInstanceTest, ClosesSessionsFirstAndItselfLast) {
  egg_session_spec spec{};
  spec.population = 4;
  {
    auto backend = std::make_optional(open_backend(log_));
    std::optional<BackendSession> session(backend->open_session(spec));
    std::optional<BackendSession> moved(std::move(*session));
    session.reset();
    spec.population = 2;  // the session keeps its own copy
    backend.reset();
    EXPECT_EQ(text_of(log_), "");
  }
  EXPECT_EQ(text_of(log_), "session of 4 closed\nbackend closed\n");
}

TEST(SeamCall, APluginsTextIsOnePrintableLine) {
  const std::string raw = "two\nlines \x1b[31m \xff" + std::string(5000, 'x');
  SeamCall call =
      call_plugin([&](egg_error* error) { return set_error(error, EGG_ERROR_CONFIG, raw.c_str(), "k\ny"); });
  const auto refusal = [&]() -> std::string {
    try {
      require_ok(call, "it");
    } catch (const Error& error) {
      EXPECT_TRUE(error.key().empty() || error.key() == "k y");
      return error.what();
    }
    return "";
  };
  const std::string beginning = "two lines \ufffd[31m \ufffdx";
  EXPECT_THAT(refusal(), testing::StartsWith("it: " + beginning));
  call = call_plugin([&](egg_error*) -> int32_t { throw std::runtime_error(raw); });
  EXPECT_THAT(refusal(), testing::StartsWith("it threw an exception across the plugin seam: " + beginning));
  EXPECT_LT(refusal().size(), 1100U);
}

}  // namespace
}  // namespace eggroll
