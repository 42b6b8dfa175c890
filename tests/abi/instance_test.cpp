// Opened models and optimizers: what they give and how they fail.
#include "plugin/instance.h"

#include <memory>
#include <string>

#include "abi_support.h"
#include "plugin/watchdog.h"
#include "program/program.h"
#include "program/rule.h"

namespace eggroll {
namespace {

using testing::ElementsAre;

ModelInstance open_model(const std::string& name, const std::vector<egg_setting>& items) {
  return open<ModelInstance>(EGG_KIND_MODEL, name, items);
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
  EXPECT_EQ(message_of([] { open_model("no_program", {}); }), "model 'no_program' gave no program; fix the plugin");
}

TEST(ModelInstance, ThatThrowsAcrossTheSeamIsRefused) {
  EXPECT_EQ(message_of([] { open_model("throws_in_open", {text("what", "runtime_error")}); }),
            "model 'throws_in_open' threw an exception across the plugin seam: no such device; fix the plugin");
  EXPECT_EQ(message_of([] { open_model("throws_in_open", {text("what", "unknown")}); }),
            "model 'throws_in_open' threw an exception of unknown type across the plugin seam; fix the plugin");
}

TEST(ModelInstance, ThatRefusesDoesSoInOnePrintableLine) {
  EXPECT_EQ(message_of([] { open_model("shouts", {}); }),
            "model 'shouts': no room for \xef\xbf\xbd[2Jthis\xef\xbf\xbd");
}

TEST(ModelInstance, ThatHangsIsAbandoned) {
  const auto begin = std::chrono::steady_clock::now();
  // The plugin goes on reading its settings; these strings are freed at once.
  const auto word = std::make_unique<std::string>("still here");
  EXPECT_EQ(message_of([&] { open_model("hangs_in_open", {text("word", word->c_str())}); }),
            "plugin 'hangs_in_open' has not returned from open within 1 s; fix or remove " +
                plugin_path("hangs_in_open").string());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kHangLimit);
}

TEST(Instance, OfAnotherKindOrRejectedIsRefused) {
  const egg_settings none{sizeof(egg_settings), 0, nullptr};
  EXPECT_EQ(message_of([&] { BackendInstance(registry_of({"c_model"}).choose(EGG_KIND_MODEL, "c_model"), none); }),
            "model 'c_model' cannot be opened as a backend; choose another");
  const ChosenPlugin rejected{registry_of({"wrong_spec"}).files().front(), "", "", kTestLimit};
  EXPECT_EQ(message_of([&] { ModelInstance(rejected, none); }),
            "model 'wrong_spec' cannot be opened as a model; choose another");
}

TEST(OptimizerInstance, GivesARuleAndTheScalarsOfAStep) {
  const auto optimizer = open<OptimizerInstance>(EGG_KIND_OPTIMIZER, "ramp", {integer("limit", 10)});
  EXPECT_EQ(optimizer.rule().scalar_count, 2U);
  EXPECT_EQ(optimizer.rule().node_count, 4U);
  EXPECT_THAT(optimizer.scalars(0, {}), ElementsAre(0.0F, -1.0F));
  const std::vector<egg_evaluation> evaluations = {{0, 800, 10}, {5, 70, 20}};
  EXPECT_THAT(optimizer.scalars(9, evaluations), ElementsAre(9.0F, 3.5F));
  EXPECT_EQ(message_of([&] { optimizer.scalars(10, evaluations); }),
            "optimizer 'ramp': the ramp ends here; raise limit");
}

// The adapter asks for what the plugin's author forgets: whether every setting was read.
TEST(OptimizerInstance, ThatDoesNotReadAllItsSettingsRefusesTheRest) {
  const auto refusal = [](const std::vector<egg_setting>& items) {
    return message_of([&] { open<OptimizerInstance>(EGG_KIND_OPTIMIZER, "unfinished", items); });
  };
  EXPECT_EQ(refusal({integer("limit", 1)}), "");
  EXPECT_EQ(refusal({integer("limit", 1), integer("limits", 2)}),
            "optimizer 'unfinished': unknown key 'limits'; did you mean 'limit'? (correct or remove it)");
}

OptimizerInstance open_hostile(const char* fault) {
  return open<OptimizerInstance>(EGG_KIND_OPTIMIZER, "hostile_rule", {text("fault", fault)});
}

TEST(OptimizerInstance, ThatWritesOutsideItsScalarsIsNamed) {
  const std::string sentence =
      "optimizer 'hostile_rule' wrote outside the buffer of 1 scalars in scalars(); fix the plugin";
  EXPECT_EQ(message_of([] { open_hostile("writes_behind").scalars(0, {}); }), sentence);
  EXPECT_EQ(message_of([] { open_hostile("writes_before").scalars(0, {}); }), sentence);
  EXPECT_THAT(open_hostile("none").scalars(0, {}), ElementsAre(0.0F));
}

TEST(OptimizerInstance, WhoseScalarIsNotFiniteIsRefusedAtThatStep) {
  const OptimizerInstance nan = open_hostile("nan");
  EXPECT_THAT(nan.scalars(2, {}), ElementsAre(0.0F));
  EXPECT_EQ(
      message_of([&] { nan.scalars(3, {}); }),
      "optimizer 'hostile_rule' gave nan as the scalar 'rate' of step 3, expected a finite number; fix the plugin "
      "or its settings");
  EXPECT_EQ(message_of([] { open_hostile("infinite").scalars(7, {}); }),
            "optimizer 'hostile_rule' gave -inf as the scalar 'rate' of step 7, expected a finite number; fix the "
            "plugin or its settings");
}

TEST(OptimizerInstance, WhoseNamesFitNoFileGivesNoRule) {
  const auto fault = [](const char* name) { return message_of([&] { Rule(open_hostile(name).rule()); }); };
  const auto sentence = [](const std::string& what) {
    return "the optimizer's rule is wrong: " + what + "; fix the optimizer plugin";
  };
  EXPECT_EQ(fault("none"), "");
  EXPECT_EQ(fault("scalar_of_the_host"), sentence("scalar 'step' has the name of a figure that the host writes beside "
                                                  "it, expected another name"));
  EXPECT_EQ(fault("scalar_no_text"),
            sentence("scalar 0: the name 'lr\xef\xbf\xbd' has characters other than a-z, 0-9, underscores and dots"));
  EXPECT_EQ(fault("slot_with_a_slash"),
            sentence("slot 0: the name 'a/b' has characters other than a-z, 0-9, underscores and dots"));
  EXPECT_EQ(fault("twin_slots"), sentence("two slots are named 'm'"));
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
