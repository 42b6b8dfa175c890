// The settings `perturb.groups` and `votes.masked`, from the configuration to the weights.
#include <gmock/gmock.h>

#include "eggroll/program_builder.h"
#include "train/replay.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kTables = {"model.context_tables=[{tokens: 2, rows: 64}, {tokens: 3, rows: 256}]",
                                          "model.logit_tables=[{tokens: 2, rows: 32}]"};
const std::string kSplit =
    "perturb.groups=[{params: [embedding, \"context*\", \"logit_context*\"], share: 0.5}, "
    "{params: [\"layer*\", norm_out.gain, head], share: 0.5}]";

ConfigNode with_tables(std::vector<std::string> more = {}) {
  more.insert(more.begin(), kTables.begin(), kTables.end());
  return small_config(more);
}

std::string refusal(const std::string& groups) {
  return message_of([&] { Learner(with_tables({"perturb.groups=" + groups}), built_plugins()); });
}

TEST(Voting, TablesAreMaskedAndNothingElse) {
  const Learner learner(with_tables(), built_plugins());
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    const std::string name = learner.program->params()[i].name;
    const bool table = name == "embedding" || name.find("context") != std::string::npos;
    EXPECT_EQ(learner.voters[i].masked, table ? 1 : 0) << name;
    EXPECT_EQ(learner.voters[i].first_pair, 0U);
    EXPECT_EQ(learner.voters[i].pairs, 8U);
  }
  EXPECT_FALSE(Learner(with_tables({"votes.masked=false"}), built_plugins()).has_masks());
  // A tied head reads all rows.
  EXPECT_FALSE(Learner(small_config({"model.tied_head=true"}), built_plugins()).has_masks());
}

TEST(Voting, GroupsShareOutTheStreams) {
  const Learner learner(with_tables({kSplit, "train.population=40"}), built_plugins());  // ten streams
  EXPECT_THAT(learner.group_streams, ElementsAre(5, 5));
  EXPECT_THAT(learner.group_pairs(), ElementsAre(10, 10));
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    EXPECT_EQ(learner.voters[i].first_pair, learner.voters[i].masked != 0 ? 0U : 10U);
    EXPECT_EQ(learner.voters[i].pairs, 10U);
  }
}

// A model's list of groups stays valid if the model is built without some of its parts.
TEST(Voting, AGroupWithoutParametersLeavesItsShareToTheOthers) {
  const Learner learner(
      with_tables({"perturb.groups=[{params: [\"adapter*\"], share: 0.5}, {params: [embedding, \"*context*\"], share: "
                   "0.3}, {params: [\"layer*\", \"norm*\", \"head*\", \"tail*\"], share: 0.2}]",
                   "train.population=40"}),
      built_plugins());  // ten streams
  EXPECT_THAT(learner.group_streams, ElementsAre(6, 4));
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    EXPECT_EQ(learner.voters[i].first_pair, learner.voters[i].masked != 0 ? 0U : 12U);
    EXPECT_EQ(learner.voters[i].pairs, learner.voters[i].masked != 0 ? 12U : 8U);
  }
}

// The first of the tables with the shortest context that add up to one value draws the perturbation of all.
TEST(Voting, JointTablesNameTheirLead) {
  const Learner learner(with_tables({"perturb.tables=joint"}), built_plugins());
  std::map<std::string, std::string> leads;
  for (size_t i = 0; i < learner.voters.size(); ++i) {
    const int32_t joint = learner.voters[i].joint;
    if (joint != 0)
      leads[learner.program->params()[i].name] = learner.program->params().at(static_cast<size_t>(joint - 1)).name;
  }
  const std::map<std::string, std::string> expected = {{"embedding", "embedding"},
                                                       {"context0.w", "embedding"},
                                                       {"context1.w", "embedding"},
                                                       {"logit_context0.w", "logit_context0.w"}};
  EXPECT_EQ(leads, expected);
  // Tables in different groups are not joined.
  const Learner split(with_tables({"perturb.tables=joint",
                                   "perturb.groups=[{params: [embedding], share: 0.5}, {params: [\"context*\", "
                                   "\"logit*\", \"layer*\", norm_out.gain, head], share: 0.5}]"}),
                      built_plugins());
  for (size_t i = 0; i < split.voters.size(); ++i) {
    const std::string name = split.program->params()[i].name;
    if (name != "context0.w" && name != "context1.w") continue;
    EXPECT_EQ(split.voters[i].joint, 0) << name;
  }
  EXPECT_THAT(message_of([&] {
                Learner(with_tables({"perturb.tables=joint", "votes.masked=false"}), built_plugins());
              }),
              HasSubstr("tables is joint, expected rows where votes.masked is false"));
}

// The lead has a row wherever another table of its sum has one, in whatever order they are listed.
TEST(Voting, TheLeadOfJointTablesIsTheOneWithTheShortestContext) {
  for (const auto& [list, lead] :
       {std::pair{"[{tokens: 1}, {tokens: 2, rows: 32}, {tokens: 3, rows: 64}]", "logit_context0.w"},
        std::pair{"[{tokens: 3, rows: 64}, {tokens: 2, rows: 32}, {tokens: 1}]", "logit_context2.w"},
        std::pair{"[{tokens: 4, rows: 64}, {tokens: 2, rows: 32}, {tokens: 2, rows: 64}]", "logit_context1.w"}}) {
    SCOPED_TRACE(list);
    const Learner learner(small_config({"perturb.tables=joint", std::string("model.logit_tables=") + list}),
                          built_plugins());
    const std::vector<egg_param>& params = learner.program->params();
    size_t joined = 0;
    for (size_t i = 0; i < params.size(); ++i) {
      if (!std::string_view(params[i].name).starts_with("logit_context")) continue;
      ASSERT_NE(learner.voters[i].joint, 0) << params[i].name;
      EXPECT_STREQ(params[static_cast<size_t>(learner.voters[i].joint - 1)].name, lead);
      ++joined;
    }
    EXPECT_EQ(joined, 3U);
  }
}

// A token that follows a reset has no row of a longer context, and its members differ all the same.
TEST(Voting, JointTablesArePerturbedWhereOneOfThemHasARow) {
  for (const bool longest_first : {false, true}) {
    ProgramBuilder builder(5, 4, EGG_ROUND_NEAREST);
    Value sum;
    for (const int32_t tokens : longest_first ? std::vector{3, 1} : std::vector{1, 3}) {
      const std::string name = "t" + std::to_string(tokens);
      sum = builder.embed(name, builder.matrix(name + ".w", 8, 5, 0), builder.index(tokens, 8), sum);
    }
    builder.loss(sum, 4096);
    const Program program(*builder.view());
    std::vector<egg_voters> voters(2, egg_voters{0, 8, 1, 0});
    join_tables(program.view(), voters);
    EXPECT_EQ(voters[0].joint, voters[1].joint);

    const ConfigNode config = small_config();
    const Learner other(config, built_plugins());  // for its rule and its backend
    egg_session_spec spec = other.session_spec();
    spec.program = &program.view();
    spec.voters = voters.data();
    BackendSession session = other.backend->open_session(spec);
    for (uint32_t i = 0; i < 2; ++i) session.set_weights(i, std::vector<int8_t>(40).data());
    const uint32_t input = 2;
    const uint32_t target = 3;
    const uint8_t reset = 1;
    std::vector<uint32_t> rows;
    for (const egg_index& index : program.indices()) rows.push_back(index.tokens == 1 ? 2 : EGG_NO_ROW);
    std::vector<int64_t> losses(16);
    egg_evaluate evaluate{};
    evaluate.count = 16;
    evaluate.members_per_stream = 16;
    evaluate.batch = {1, 1, &input, &target, &reset, rows.data()};
    evaluate.losses = losses.data();
    session.evaluate(evaluate);
    EXPECT_NE(losses, std::vector<int64_t>(16, losses[0])) << longest_first;
  }
}

TEST(Voting, WrongGroupsAreRefused) {
  EXPECT_THAT(refusal("[{params: [\"*\"], share: 0.5}]"), HasSubstr("add up to 0.5, expected 1"));
  EXPECT_THAT(refusal("[{params: [head], share: 1.0}]"), HasSubstr("parameter 'embedding' is in no group"));
  EXPECT_THAT(refusal("[{params: [\"*\"], share: 0.5}, {params: [head], share: 0.5}]"),
              HasSubstr("expected one; name it once"));
  EXPECT_THAT(refusal("[{params: [\"*\", tail], share: 1.0}]"), HasSubstr("'tail' of group 0 is no parameter"));
  EXPECT_THAT(refusal("[{params: [\"*\"], share: 1.5}]"), HasSubstr("groups.0.share is 1.5"));
  EXPECT_THAT(refusal("[{share: 1.0}]"), HasSubstr("groups.0 has neither params nor sites"));
  EXPECT_THAT(refusal("[{params: [embedding, \"*context*\", \"layer*\", \"norm*\"], share: 0.999}, {params: [head], "
                      "share: 0.001}]"),
              HasSubstr("group 1 has none of the 4 streams"));
}

// A group's fitness is as it would be without the others.
TEST(Voting, GroupsAreComparedWithinThemselves) {
  const std::vector<int64_t> small = {0, 10, 30, 0, 0, 50};
  const std::vector<int64_t> large = {0, 4000, 9000, 0};
  std::vector<int64_t> both = small;
  both.insert(both.end(), large.begin(), large.end());
  for (const std::string& form : fitness_form_names()) {
    std::vector<int8_t> expected = fitness_within(form, {3}).of(small);
    for (const int8_t f : fitness_within(form, {2}).of(large)) expected.push_back(f);
    EXPECT_EQ(fitness_within(form, {3, 2}).of(both), expected) << form;
  }
}

using MaskedRunTest = SmallRunTest;

// Half of the tokens follow a separator or the token after it, and have no row of the longer context.
TEST_F(MaskedRunTest, JointTablesLearnAlikeInAnyOrder) {
  Draws draws(1);
  std::vector<std::string> words(12);
  for (std::string& word : words) {
    for (int i = 0; i < 3; ++i) word += static_cast<char>('a' + draws.below(8));
  }
  std::string text;
  for (int i = 0; i < 6000; ++i) text += words[draws.below(12)] + " ";
  write_plainly(folder_ / "text", text);
  std::vector<double> bits;
  for (const char* list : {"[{tokens: 1}, {tokens: 3, rows: 4096}]", "[{tokens: 3, rows: 4096}, {tokens: 1}]"}) {
    const ConfigNode config = compose(
        ConfigSearch{{EGGROLL_SOURCE_DIR "/configs"}},
        {"name=joint", "dataset.path=" + (folder_ / "text").string(), "dataset.separator=32", "model.context_tables=[]",
         std::string("model.logit_tables=") + list, "model.width=8", "train.steps=30", "train.population=1024",
         "train.members_per_stream=16", "backend=reference", "backend.threads=1"});
    const RunRecord record = run_in(fresh(std::to_string(bits.size())), config);
    ASSERT_TRUE(record.final);
    bits.push_back(record.final->bits_per_unit);
  }
  EXPECT_NEAR(bits[0], bits[1], 0.3);
}

// A row that no member has read stays as it is; a row that a member has read has moved.
TEST_F(MaskedRunTest, RowsThatNobodyReadKeepTheirWeights) {
  const ConfigNode config = with_tables({"train.steps=3", "checkpoint.every=3", "optimizer.schedule.kind=constant"});
  eggroll::Setup setup(config, built_plugins());
  std::vector<bool> read(256);
  BatchBuffer batch;
  for (uint64_t step = 0; step < 3; ++step) {
    setup.streams.fill(step, batch);
    for (size_t i = 1; i < batch.rows.size(); i += setup.learner.program->indices().size()) {
      if (batch.rows[i] != EGG_NO_ROW) read[batch.rows[i]] = true;
    }
  }
  const std::filesystem::path folder = fresh("run");
  run_in(folder, config);
  const Checkpoint checkpoint = load_checkpoint(*latest_checkpoint(folder));
  const auto& table = *std::find_if(checkpoint.weights.begin(), checkpoint.weights.end(),
                                    [](const WeightTensor& w) { return w.name == "context1.w"; });
  size_t moved = 0;
  for (size_t row = 0; row < 256; ++row) {
    const auto begin = table.data.begin() + static_cast<ptrdiff_t>(row * 8);
    const bool is_zero = std::all_of(begin, begin + 8, [](int8_t w) { return w == 0; });
    EXPECT_TRUE(is_zero || read[row]) << row;
    moved += is_zero ? 0 : 1;
  }
  EXPECT_GT(moved, 10U);
}

TEST_F(MaskedRunTest, ResumedAndReplayedRunsAreTheSame) {
  const std::vector<std::vector<std::string>> settings = {{"votes.masked=true"},
                                                          {kSplit, "perturb.tables=joint"},
                                                          {kSplit},
                                                          {kSplit, "votes.masked=false"},
                                                          {kSplit, "train.tokens=1", "noise.rank=2"}};
  for (size_t i = 0; i < settings.size(); ++i) {
    const ConfigNode config = with_tables(settings[i]);
    const RunRecord whole = run_in(fresh(std::to_string(i) + "whole"), config);
    const std::filesystem::path folder = fresh(std::to_string(i) + "stopped");
    std::atomic<bool> stop{false};
    TrainHooks hooks;
    hooks.stop = &stop;
    hooks.progress = [&](const Progress& progress) { stop = progress.done.step == 3; };
    EXPECT_EQ(run_in(folder, config, hooks).status, RunStatus::kInterrupted);
    EXPECT_EQ(run_in(folder, config).weights_sha256, whole.weights_sha256) << i;
    const Learner learner(config, built_plugins());
    EXPECT_EQ(weights_sha256(replay(learner, config, RunFolder{folder}, 0).weights), *whole.weights_sha256) << i;
  }
}

}  // namespace
}  // namespace eggroll::test
