// Groups of `perturb.groups` that name values: what they vote on, what they learn, and that nothing of it is lost.
#include <gmock/gmock.h>

#include "eggroll/draws.h"
#include "eggroll/program_builder.h"
#include "eggroll/sites.h"
#include "record/metric_keys.h"
#include "train/small_run.h"
#include "train/voting.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kLogits =
    "perturb.groups=[{sites: [{value: output, draws: complete}], share: 0.5}, "
    "{params: [embedding, \"context*\", \"layer*\", \"norm_out*\"], share: 0.5}]";
const std::string kInner =
    "perturb.groups=[{sites: [{value: output, draws: 16}, {value: layer0.forget, draws: 3, "
    "orthogonal: false, horizon: 2}, {value: layer0.candidate, draws: 4}], share: 0.7}, "
    "{params: [embedding, \"context*\", \"*gain\", \"layer0.up.w\", "
    "\"layer0.down.w\"], share: 0.3}]";

std::vector<std::string> with_sites(const std::string& groups, const std::vector<std::string>& more = {}) {
  return joined(more, {"model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 32}]", groups});
}

std::string refusal_of_sites(const std::string& groups) {
  return message_of([&] { Learner(small_config(with_sites("perturb.groups=" + groups)), built_plugins()); });
}

int32_t site_of(const Learner& learner, const std::string& param) {
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    if (learner.program->params()[i].name == param) return learner.voters[i].site;
  }
  return -1;
}

TEST(Sites, HaveTheParametersOfTheirSums) {
  const Learner learner(small_config(with_sites(kInner)), built_plugins());
  ASSERT_EQ(learner.sites.size(), 3U);
  for (const char* name : {"head", "logit_context0.w", "logit_context1.w"})
    EXPECT_EQ(site_of(learner, name), 1) << name;
  for (const char* name : {"w", "u", "b"}) {
    EXPECT_EQ(site_of(learner, std::string("layer0.forget.") + name), 2) << name;
    EXPECT_EQ(site_of(learner, std::string("layer0.candidate.") + name), 3) << name;
  }
  EXPECT_EQ(site_of(learner, "embedding"), 0);
  EXPECT_EQ(learner.sites[0].pairs, learner.sites[1].pairs);
  EXPECT_EQ(learner.sites[0].draws, 16U);
}

TEST(Sites, WhatCannotBePerturbedIsRefused) {
  const std::string rest = ", share: 0.5}, {params: [\"*\"], share: 0.5}]";
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: nothing, draws: 1}]" + rest),
              HasSubstr("'nothing' is no value that an op"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: layer0.h, draws: 1}]" + rest),
              HasSubstr("'layer0.h' is no value that an op"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: layer0.forget, draws: 1, amplitude: 17}]" + rest),
              HasSubstr("'layer0.forget' is an int8 value and has an amplitude of 17, expected at most 16"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: output, draws: 17}]" + rest), HasSubstr("17 draws"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: output, draws: complete}]" + rest), HasSubstr("no parameter votes"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: output, draws: complete, horizon: 1}]" + rest),
              HasSubstr("horizon of 1"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: output, draws: all}]" + rest), HasSubstr("complete"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: output, draws: 65536, orthogonal: false}]" + rest),
              HasSubstr("are clipped at 0.25; use fewer draws"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: layer0.forget, draws: 1, horizon: 999}]" + rest),
              HasSubstr("a horizon of 999, expected fewer than the"));
  EXPECT_THAT(refusal_of_sites("[{sites: [{value: output, draws: complete}], params: [head]" + rest),
              HasSubstr("has both"));
}

// A wide value stays in its range even with the amplitude added.
TEST(Sites, AWideValueHasRoomForItsAmplitude) {
  ProgramBuilder builder(8, 4, EGG_ROUND_NEAREST);
  const Param embedding = builder.matrix("embedding", 8, 4, 16);
  const Param head = builder.matrix("head", 8, 4, 16);
  const Value x = builder.embed("x", embedding);
  const Value sum = builder.wide_add("sum", x, x);
  const Value twice = builder.wide_add("twice", sum, sum);
  builder.loss(builder.linear("logits", builder.max_norm("y", twice), head, 4), 4096);
  const Program program(*builder.view());
  const auto most_of = [&](int32_t amplitude) {
    const egg_site site{1, EGG_DRAWS_ORTHOGONAL, 4, amplitude, 0, 0, 0, 1};
    EXPECT_STREQ(program.values()[1].name, "sum");
    int64_t most = 0;
    for (const AccumulatorBound& bound : accumulator_bounds(program.view(), egg_noise{}, {&site, 1})) {
      if (bound.limit == EGG_WIDE_MAX) most = bound.largest;
    }
    return most;
  };
  EXPECT_EQ(most_of(0), 4 * 127);
  EXPECT_EQ(most_of(65536), 2 * (2 * 127 + 65536));
  const egg_site site{1, EGG_DRAWS_ORTHOGONAL, 4, EGG_WIDE_MAX, 0, 0, 0, 1};
  EXPECT_THAT(message_of([&] {
                require_no_overflow(program.view(), egg_noise{}, {&site, 1});
              }),
              HasSubstr("more than a wide value may reach"));
}

// A value that only a state carries to a loss changes none of its own token.
TEST(Sites, WhatADrawComputesAgain) {
  ProgramBuilder builder(8, 4, EGG_ROUND_NEAREST);
  const Param embedding = builder.matrix("embedding", 8, 4, 16);
  const Param head = builder.matrix("head", 8, 4, 16);
  const Value h = builder.state("h", 4);
  const Value x = builder.embed("x", embedding);
  builder.store(h, builder.add("next", x, h));
  builder.loss(builder.linear("logits", h, head, 4), 4096);
  const Program program(*builder.view());
  const auto number_of = [&](const std::string& name) {
    const auto& values = program.values();
    const auto found = std::find_if(values.begin(), values.end(), [&](const egg_value& v) { return v.name == name; });
    return static_cast<int32_t>(found - values.begin());
  };
  EXPECT_THAT(ops_behind(program.view(), number_of("x"), false).ops, IsEmpty());
  const OpsBehind later = ops_behind(program.view(), number_of("x"), true);
  EXPECT_THAT(later.ops, ElementsAre(1, 2));  // the sum, and the store
  EXPECT_THAT(later.sources, ElementsAre(number_of("x"), number_of("h")));
  const OpsBehind at_logits = ops_behind(program.view(), number_of("logits"), false);
  EXPECT_THAT(at_logits.ops, ElementsAre(4));
  egg_site site{};
  site.value = number_of("logits");
  EXPECT_THAT(ops_of_draw(program.view(), site).ops, ElementsAre(4));
  site.horizon = 1;
  const OpsOfDraw goes_on = ops_of_draw(program.view(), site);
  EXPECT_THAT(goes_on.ops, ElementsAre(2, 4));  // the store too
  EXPECT_THAT(goes_on.sources, ElementsAre(number_of("logits"), number_of("next")));

  // An op behind a store reads what the state was: the store is not behind the value.
  ProgramBuilder stored(8, 4, EGG_ROUND_NEAREST);
  const Param table = stored.matrix("embedding", 8, 4, 16);
  const Param out = stored.matrix("head", 8, 4, 16);
  const Value state = stored.state("h", 4);
  const Value seen = stored.embed("x", table);
  const Value next = stored.add("next", seen, state);
  stored.store(state, next);
  stored.loss(stored.linear("logits", stored.add("y", next, state), out, 4), 4096);
  const Program reads_on(*stored.view());
  EXPECT_THAT(ops_behind(reads_on.view(), reads_on.ops().front().out, false).ops, ElementsAre(1, 3, 4, 5));

  TrainSettings train{};
  train.population = 64;
  train.members_per_stream = 2;
  train.tokens = 4;
  PerturbGroup group{{}, 0.5, {{"x", {}, true, 2, 0, {}}}};
  const PerturbGroup rest{{"head"}, 0.5, {}};
  EXPECT_THAT(message_of([&] {
                assign_voters(program, train, true, {group, rest});
              }),
              HasSubstr("'x' changes no loss of its own token"));
  group.sites.front().horizon = 1;
  EXPECT_EQ(assign_voters(program, train, true, {group, rest}).sites.size(), 1U);
}

// The sum over a complete set of draws, divided by their number, is what each channel alone would change.
TEST(Sites, CompleteDrawsGiveTheFiniteDifference) {
  constexpr uint32_t kSize = 16;
  for (uint32_t i = 0; i < kSize; ++i) {
    for (uint32_t j = 0; j < kSize; ++j) {
      int32_t sum = 0;
      for (uint32_t k = 0; k < kSize; ++k) sum += (egg_hadamard_bit(k, i) ^ egg_hadamard_bit(k, j)) != 0 ? -1 : 1;
      EXPECT_EQ(sum, i == j ? 16 : 0);
    }
  }
}

struct SitesOfRun {
  const char* name;
  std::string groups;
  std::vector<std::string> model;
};

class SiteRunTest : public SmallRunTest, public ::testing::WithParamInterface<SitesOfRun> {
 protected:
  static ConfigNode config_with(const std::vector<std::string>& more) {
    const std::vector<std::string> longer = {"train.steps=40", "eval.every=20", "checkpoint.every=20"};
    return small_config(joined(with_sites(GetParam().groups, joined(GetParam().model, longer)), more));
  }

  const ConfigNode config_ = config_with({});
};

TEST_P(SiteRunTest, Learns) {
  const std::filesystem::path run = fresh("run");
  const RunRecord record = run_in(run, config_);
  const auto first = read_metrics(RunFolder{run}.metrics()).front().at(kHeldOutKeys.bits).get<double>();
  EXPECT_LT(record.final->bits_per_unit, first - 0.1);
}

TEST_P(SiteRunTest, GoesOnHoweverItEnds) { expect_goes_on(with_sites(GetParam().groups, GetParam().model)); }

TEST_P(SiteRunTest, IsTheSameOnEveryBackendThatHasTheSites) {
  const RunRecord record = run_in(fresh("run"), config_);
  size_t others = 0;
  for (const PluginFile& file : built_plugins().files()) {
    const bool is_gpu = file.name == "cuda" || file.name == "metal";
    if (file.kind != EGG_KIND_BACKEND || file.verdict == Verdict::kCannotRun || is_gpu) continue;
    const ConfigNode config = config_with({"backend=" + file.name, "backend.threads=3"});
    EXPECT_EQ(run_in(fresh(file.name), config).weights_sha256, record.weights_sha256) << file.name;
    ++others;
  }
  EXPECT_GT(others, 0U);
}

// Queries, values and sums are wide; a draw's attention reads its stream's earlier keys and values.
const std::string kWide =
    "perturb.groups=[{sites: [{value: output, draws: 20, orthogonal: false}, {value: embedded, draws: 8, horizon: 3}, "
    "{value: "
    "layer0.attention.q.wide, "
    "draws: 5, orthogonal: false, amplitude: 900}, {value: layer0.attention.v.wide, draws: 20, amplitude: 900, "
    "horizon: 2}, {value: "
    "layer0.mlp.sum, draws: 8, amplitude: 6}], share: 0.7}, {params: [\"*.b\", \"*gain\", \"*.up.w\", "
    "\"init_mlp*\", \"*.k.w\", \"*.out.w\"], share: 0.3}]";

INSTANTIATE_TEST_SUITE_P(, SiteRunTest,
                         ::testing::Values(SitesOfRun{"AtTheOutput", kLogits, {}}, SitesOfRun{"Within", kInner, {}},
                                           SitesOfRun{
                                               "OfATransformer",
                                               kWide,
                                               {"model=int8nativeformer", "model.width=24", "model.head_width=12",
                                                "model.tied_head=false", "noise.rank=1"}}),
                         [](const auto& values) { return std::string(values.param.name); });

}  // namespace
}  // namespace eggroll::test
