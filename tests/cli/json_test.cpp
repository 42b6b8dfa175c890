// What commands say to programs: one JSON document, whose numbers are numbers.
#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

using nlohmann::ordered_json;

class JsonTest : public CliTest {
 protected:
  // Throws where standard output holds anything else. plugins: EGGROLL_PLUGIN_PATH.
  ordered_json document(const Arguments& arguments, const std::string& plugins = "") const {
    const Arguments all = command_with("EGGROLL_PLUGIN_PATH=" + plugins, joined(arguments, {"--json"}));
    return ordered_json::parse(said(Process(work_, all).wait()));
  }
  // The entry of the list whose member has this value.
  static ordered_json entry(const ordered_json& list, const char* member, const ordered_json& value) {
    for (const ordered_json& each : list) {
      if (each.at(member) == value) return each;
    }
    ADD_FAILURE() << value << " is not in " << list;
    return ordered_json::object();
  }
};

TEST_F(JsonTest, PluginsHaveTheirVerdicts) {
  fs::create_directory(work_ / "mine");
  write_plainly(work_ / "mine" / "broken.eggplugin", "no library");
  const ordered_json found = document({"plugins"}, "mine:nowhere");
  const ordered_json gru = entry(found.at("plugins"), "name", "gru");
  EXPECT_EQ(gru.at("kind"), "model");
  EXPECT_EQ(gru.at("verdict"), "accepted");
  EXPECT_EQ(gru.at("reason"), nullptr);
  EXPECT_TRUE(gru.at("score").is_number_integer());
  EXPECT_TRUE(fs::exists(gru.at("file").get<std::string>()));
  const ordered_json broken = entry(found.at("plugins"), "verdict", "rejected");
  EXPECT_EQ(broken.at("name"), nullptr);
  EXPECT_EQ(broken.at("score"), nullptr);
  EXPECT_THAT(broken.at("reason").get<std::string>(), HasSubstr("broken.eggplugin"));
  const ordered_json nowhere = entry(found.at("folders"), "folder", (work_ / "nowhere").string());
  EXPECT_EQ(nowhere.at("origin"), "EGGROLL_PLUGIN_PATH");
  EXPECT_EQ(nowhere.at("problem"), "does not exist");
  EXPECT_EQ(entry(found.at("folders"), "folder", (work_ / "mine").string()).at("problem"), nullptr);
}

TEST_F(JsonTest, KeysHaveTheirValuesAndComments) {
  const ordered_json group = document({"keys", "optimizer", "optimizer=es_adamw"});
  ASSERT_EQ(group.at("groups").size(), 1U);
  EXPECT_EQ(group.at("groups")[0].at("group"), "optimizer");
  const ordered_json& options = group.at("groups")[0].at("options");
  EXPECT_EQ(entry(options, "option", "es_adamw").at("chosen"), true);
  EXPECT_EQ(entry(options, "option", "sign_es").at("chosen"), false);
  EXPECT_THAT(entry(options, "option", "es_sgd").at("summary").get<std::string>(), HasSubstr("Momentum on the vote"));
  EXPECT_TRUE(entry(group.at("keys"), "key", "optimizer.beta1").at("value").is_number_float());
  EXPECT_EQ(document({"keys", "train.steps", "train.steps=7"}).dump(),
            R"({"groups":[],"keys":[{"key":"train.steps","value":7,"comment":null,"limits":"at least 1"}]})");
  const ordered_json tokens = document({"keys", "stop.tokens"}).at("keys")[0];
  EXPECT_EQ(tokens.at("value"), nullptr);
  EXPECT_EQ(tokens.at("comment"), "member tokens");
  EXPECT_EQ(tokens.at("limits"), "at least 1");

  const ordered_json all = document({"keys"});
  EXPECT_EQ(entry(entry(all.at("groups"), "group", "optimizer").at("options"), "option", "sign_es").at("chosen"), true);
  EXPECT_TRUE(entry(all.at("keys"), "key", "train.steps").at("value").is_number_integer());
  const Result refused = eggroll({"keys", "modl", "--json"});
  expect_one_sentence(refused, {"'modl' is no group and no key"});
  EXPECT_EQ(refused.out, "");
}

TEST_F(JsonTest, ComparisonsHaveValuesAndFigures) {
  for (const char* width : {"model.width=16", "model.width=32"}) {
    for (const char* seed : {"seed=0", "seed=1"}) {
      ASSERT_EQ(eggroll(tiny_run({width, seed, "results.dir=" + std::string(width)})).exit_code, 0);
    }
  }
  const ordered_json sets = document({"compare", "model.width=16", "model.width=32"});
  EXPECT_EQ(sets.at("a").dump(), R"({"runs":2,"seeds":[0,1],"statuses":{"completed":2},"path":"model.width=16"})");
  EXPECT_EQ(entry(sets.at("differences"), "key", "config.model.width").dump(),
            R"({"key":"config.model.width","a":{"values":[16],"absent":0},"b":{"values":[32],"absent":0}})");
  EXPECT_EQ(sets.at("pairs"), 2);
  const ordered_json bits = entry(sets.at("figures"), "metric", "bits");
  EXPECT_EQ(bits.at("pairs"), 2);
  EXPECT_EQ(bits.at("seeds"), 2);
  EXPECT_NEAR(bits.at("difference").get<double>(), bits.at("b").get<double>() - bits.at("a").get<double>(), 1e-12);
  EXPECT_LT(bits.at("interval").at("low").get<double>(), bits.at("interval").at("high").get<double>());
  EXPECT_EQ(sets.at("weights").dump(), R"({"pairs":2,"equal":0})");

  const std::string one = fs::directory_iterator(work_ / "model.width=16")->path().string();
  const ordered_json same = document({"compare", one, one});
  EXPECT_EQ(same.at("differences"), ordered_json::array());
  EXPECT_EQ(entry(same.at("figures"), "metric", "steps").at("a"), 40);
  EXPECT_EQ(entry(same.at("figures"), "metric", "bits").at("interval"), nullptr);
  EXPECT_EQ(same.at("weights").at("equal"), 1);

  fs::create_directory(work_ / "empty");
  const Result refused = eggroll({"compare", "empty", one, "--json"});
  expect_one_sentence(refused, {"A has no record of a run to compare"});
  EXPECT_EQ(refused.out, "");
}

TEST_F(JsonTest, PointsHaveTheirCostAndState) {
  Arguments points = tiny_sweep({"sweep.seeds=2"});
  points.front() = "points";
  const ordered_json planned = document(points);
  EXPECT_EQ(planned.at("name"), "swept");
  EXPECT_EQ(planned.at("search"), nullptr);
  EXPECT_EQ(planned.at("left"), planned.at("points").size());
  EXPECT_EQ(planned.at("seconds_left"), nullptr) << "nobody has run any";
  EXPECT_TRUE(planned.at("memory_bytes").is_number_unsigned());
  ASSERT_EQ(eggroll(tiny_sweep({"sweep.seeds=2", "seed=0"})).exit_code, 0);
  const ordered_json half = document(points);
  const size_t count = half.at("points").size();
  EXPECT_EQ(half.at("done"), count / 2);
  EXPECT_EQ(half.at("left"), count / 2);
  EXPECT_EQ(half.at("failed"), 0);
  EXPECT_GT(half.at("seconds_left").get<double>(), 0.0);
  const ordered_json done = entry(half.at("points"), "seed", 0);
  EXPECT_EQ(done.at("state"), "completed");
  EXPECT_EQ(done.at("steps"), 2);
  EXPECT_EQ(done.at("planned_steps"), 2);
  EXPECT_EQ(done.at("hash").get<std::string>().size(), 64U);
  EXPECT_TRUE(done.at("member_tokens").is_number_unsigned());
  EXPECT_TRUE(fs::exists(work_ / done.at("folder").get<std::string>() / "record.json"));
  const ordered_json left = entry(half.at("points"), "seed", 1);
  EXPECT_EQ(left.at("state"), "new");
  EXPECT_EQ(left.at("steps"), 0);
  EXPECT_TRUE(left.at("axes").is_object());
  const Result refused = eggroll({"points", "experiment=count", "--json"});
  expect_one_sentence(refused, {"the configuration has no sweep"});
  EXPECT_EQ(refused.out, "");
}

}  // namespace
}  // namespace eggroll::test
