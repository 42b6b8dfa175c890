// The user's program that scores each held-out evaluation: what it gets, what it may write, and how a run that it ends
// goes on.
#include "train/hook.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "config/yaml.h"
#include "record/run_files.h"
#include "system/files.h"
#include "train/identity.h"
#include "train/replay.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
namespace fs = std::filesystem;

struct Refusal {
  std::string written;
  std::string reason;
};

TEST(HookNumbersTest, AreFiniteAndHaveNamesThatAreDifferent) {
  EXPECT_THAT(hook_numbers_in(R"( {"b": 1, "_a1": -2.5e3, "c": 18446744073709551615} )"
                              "\n"),
              ElementsAre(Pair("b", 1.0), Pair("_a1", -2500.0), Pair("c", 0x1p64)));
  EXPECT_TRUE(hook_numbers_in("{}").empty());
  const std::string no_json = "wrote no JSON object of names and finite numbers, expected one such as {\"score\": 0.5}";
  const std::string names = ", expected letters, digits and _, no digit first, 60 at most";
  std::string many = "{";
  for (int i = 0; i < 101; ++i) many += fmt::format("{}\"n{}\":1", i > 0 ? "," : "", i);
  const std::vector<Refusal> refusals = {
      {"", no_json},
      {"0.5", no_json},
      {"[{\"a\":1}]", no_json},
      {"{\"a\":1} x", no_json},
      {"{\"a\":1}{\"a\":1}", no_json},
      {"{\"a\":1", no_json},
      {"{\"a\":NaN}", no_json},
      {"{\"a\":Infinity}", no_json},
      {"{\"a\":1e999}", no_json},
      {"{\"a\":1,}", no_json},
      {"{\"a\xff\":1}", no_json},
      {"{\"a\n\":1}", no_json},
      {deep_json(), no_json},
      {"{\"\":1}", "wrote the name ''" + names},
      {"{\"a b\":1}", "wrote the name 'a b'" + names},
      {"{\"a.b\":1}", "wrote the name 'a.b'" + names},
      {"{\"1a\":1}", "wrote the name '1a'" + names},
      {"{\"<b>\":1}", "wrote the name '<b>'" + names},
      {"{\"\\u001b[2J\":1}", "wrote the name '\xef\xbf\xbd[2J'" + names},
      {"{\"" + std::string(61, 'a') + "\":1}", "wrote the name '" + std::string(60, 'a') + "...'" + names},
      {R"({"a":1,"b":2,"a":1})", "wrote the name 'a' twice, expected each once"},
      {R"({"a":"1"})", "wrote text as 'a', expected a finite number"},
      {R"({"a":null})", "wrote null as 'a', expected a finite number"},
      {R"({"a":true})", "wrote true as 'a', expected a finite number"},
      {R"({"a":[1]})", "wrote a list as 'a', expected a finite number"},
      {R"({"a":{"b":1}})", "wrote an object as 'a', expected a finite number"},
      {many + "}", "wrote more than 100 numbers, expected fewer"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_EQ(message_of([&] { hook_numbers_in(refusal.written); }), refusal.reason) << refusal.written;
  }
}

class HookTest : public TrainerTest {
 protected:
  // A configuration whose hook is this shell script. It is told the folder that holds it in $HERE.
  ConfigNode with_hook(const std::string& script, const std::vector<std::string>& more = {}) {
    const fs::path path = folder_ / "hook.sh";
    write_plainly(path, "HERE='" + folder_.string() + "'\n" + script);
    return small_config(joined({"eval.hook=[sh, '" + path.string() + "']"}, more));
  }

  static std::vector<ordered_json> hooks_of(const fs::path& folder) {
    std::vector<ordered_json> hooks;
    for (const ordered_json& line : read_metrics(RunFolder{folder}.metrics())) {
      if (line.contains("hook")) hooks.push_back({line.at("step"), line.at("hook")});
    }
    return hooks;
  }

  std::string failure_of(const std::string& script, const std::vector<std::string>& more = {}) {
    const fs::path folder = fresh("failing" + std::to_string(failures_++));
    const ConfigNode config = with_hook(script, more);
    return message_of([&] { run_in(folder, config); });
  }

  int failures_ = 0;
};

// Counts its calls and answers with the step that it was asked about.
const std::string kCounting =
    "echo x >> \"$HERE/calls\"\n"
    "sed 's/.*\"step\":\\([0-9]*\\).*/{\"step\": \\1, \"half\": 0.5}/'\n";

TEST_F(HookTest, EachEvaluationHasItsNumbersAndNothingElseChanges) {
  const RunRecord plain = run_in(fresh("plain"), config_);
  const fs::path folder = fresh("asked");
  const RunRecord asked = run_in(folder, with_hook(kCounting));
  EXPECT_EQ(asked.weights_sha256, plain.weights_sha256);
  EXPECT_EQ(asked.final->bits_per_unit, plain.final->bits_per_unit);
  EXPECT_EQ(asked.config_hash, plain.config_hash);
  EXPECT_EQ(read_file(RunFolder{folder}.journal()), read_file(RunFolder{folder_ / "plain"}.journal()));
  EXPECT_THAT(hooks_of(folder), ElementsAre(ordered_json::parse(R"([0,{"step":0,"half":0.5}])"),
                                            ordered_json::parse(R"([2,{"step":2,"half":0.5}])"),
                                            ordered_json::parse(R"([4,{"step":4,"half":0.5}])"),
                                            ordered_json::parse(R"([6,{"step":6,"half":0.5}])")));
  const std::optional<RunMetrics> summary = read_record(RunFolder{folder}.record()).summary;
  EXPECT_THAT(summary->hook, ElementsAre(Pair("step", 6.0), Pair("half", 0.5)));
  EXPECT_EQ(summary->hook_number("hook.half"), 0.5);
  EXPECT_EQ(summary->hook_number("half"), std::nullopt);
  EXPECT_EQ(summary->late_mean("hook.half"), std::nullopt);
  EXPECT_TRUE(read_record(RunFolder{folder_ / "plain"}.record()).summary->hook.empty());
  EXPECT_EQ(foreign_entry(RunFolder{folder}), std::nullopt);
}

TEST_F(HookTest, ItGetsTheEvaluationAndASample) {
  const fs::path folder = fresh("run");
  run_in(folder, with_hook("cat > \"$HERE/input\"; echo '{}'",
                           {"eval.hook_sample.tokens=5", "eval.hook_sample.temperature=0", "train.steps=2"}));
  const ordered_json input = ordered_json::parse(read_file(folder_ / "input"));
  EXPECT_EQ(input.at("run"), folder.string());
  EXPECT_EQ(input.at("unit"), "token");
  EXPECT_EQ(input.at("step"), 2);
  EXPECT_EQ(input.at("member_tokens"), 256);
  const RunRecord record = read_record(RunFolder{folder}.record());
  EXPECT_EQ(input.at("held_out_bits_per_unit").get<double>(), record.newest->bits_per_unit);
  EXPECT_EQ(input.at("final_bits_per_unit").get<double>(), record.final->bits_per_unit);
  EXPECT_FALSE(input.contains("step_seconds"));
  EXPECT_FALSE(input.contains("sample"));  // these tokens stand for no text
  EXPECT_EQ(input.at("prompt_tokens").size(), 64U);
  eggroll::Setup setup(config_, built_plugins());
  BackendSession session = setup.learner.open_session();
  restore_session(session, setup.learner, load_checkpoint(*latest_checkpoint(folder)));
  SampleOptions options;
  options.count = 5;
  options.temperature = 0.0;
  EXPECT_EQ(input.at("sample_tokens"),
            sample(session, *setup.learner.program, held_out_prompt(setup.dataset), options));
}

TEST_F(HookTest, OfText) {
  const fs::path text = folder_ / "text.txt";
  std::string bytes;
  for (int i = 0; i < 500; ++i) bytes += fmt::format("line {}\n", i % 7);
  write_plainly(text, bytes);
  const ConfigNode hook = with_hook("cat > \"$HERE/input\"; echo '{}'");
  run_in(fresh("run"),
         repository_config({"eval.hook=" + to_line(hook.at("eval.hook")), "dataset.path=" + text.string(),
                            "model.width=8", "model.context_tables=[]", "model.logit_tables=[]", "perturb.groups=[]",
                            "train.population=16", "train.steps=1", "eval.tokens=32", "backend=reference"}));
  const ordered_json input = ordered_json::parse(read_file(folder_ / "input"));
  EXPECT_EQ(input.at("unit"), "byte");
  EXPECT_EQ(input.at("sample_tokens").size(), 400U);
  EXPECT_EQ(input.at("prompt").get<std::string>().size(), 64U);
  EXPECT_THAT(input.at("prompt").get<std::string>(), HasSubstr("line 3\n"));
  EXPECT_TRUE(input.at("sample").is_string());
}

// At whichever evaluation the hook fails, the run is saved; resumed, it ends as a run whose hook never failed.
TEST_F(HookTest, WhereItFailsTheRunGoesOn) {
  const ConfigNode config = with_hook("[ -e \"$HERE/broken\" ] && echo oops && exit 3\n" + kCounting);
  run_in(fresh("whole"), config);
  const std::vector<std::string> expected = untimed_lines(folder_ / "whole");
  for (const uint64_t step : {0U, 2U, 4U, 6U}) {
    const fs::path folder = fresh("failed" + std::to_string(step));
    const fs::path broken = folder_ / "broken";
    if (step == 0) write_plainly(broken, "");
    TrainHooks hooks;
    hooks.progress = [&](const Progress& progress) {
      if (progress.done.step + 1 == step) write_plainly(broken, "");
    };
    EXPECT_EQ(
        message_of([&] { run_in(folder, config, hooks); }),
        fmt::format("the hook 'sh {}/hook.sh' at step {} ended with exit code 3; it wrote: 'oops'; mend it and go "
                    "on with: eggroll resume {} --hook",
                    folder_.string(), step, folder.string()));
    const RunRecord failed = read_record(RunFolder{folder}.record());
    EXPECT_EQ(failed.status, RunStatus::kFailed);
    EXPECT_EQ(failed.steps, step);
    EXPECT_EQ(load_checkpoint(*latest_checkpoint(folder)).step, step);
    // The hook is still broken, and nothing is lost.
    EXPECT_NE(message_of([&] { run_in(folder, config); }), "");
    EXPECT_EQ(load_checkpoint(*latest_checkpoint(folder)).step, step);
    fs::remove(broken);
    const RunRecord resumed = run_in(folder, config);
    EXPECT_EQ(resumed.status, RunStatus::kCompleted);
    EXPECT_EQ(untimed_lines(folder), expected) << step;
    EXPECT_EQ(resumed.weights_sha256, read_record(RunFolder{folder_ / "whole"}.record()).weights_sha256);
    EXPECT_EQ(resumed.final->bits_per_unit, read_record(RunFolder{folder_ / "whole"}.record()).final->bits_per_unit);
  }
}

TEST_F(HookTest, AResumedRunAsksNoEvaluationAgain) {
  const ConfigNode config = with_hook(kCounting);
  run_in(fresh("whole"), config);
  fs::remove(folder_ / "calls");
  const fs::path folder = fresh("stopped");
  for (uint64_t step = 0; step < 6; ++step) run_until(folder, config, step);
  run_in(folder, config);
  EXPECT_EQ(untimed_lines(folder), untimed_lines(folder_ / "whole"));
  EXPECT_EQ(read_file(folder_ / "calls"), "x\nx\nx\nx\n");
  eggroll::Setup setup(config, built_plugins());
  replay(setup.learner, config, RunFolder{folder}, 0);
  EXPECT_EQ(read_file(folder_ / "calls").size(), 8U);
}

TEST_F(HookTest, ARunThatGetsAHookAsksItFromItsNewestEvaluationOn) {
  const fs::path folder = fresh("run");
  run_until(folder, config_, 4);
  run_in(folder, with_hook(kCounting));
  ASSERT_EQ(hooks_of(folder).size(), 2U);
  EXPECT_EQ(hooks_of(folder)[0][0], 4);
  EXPECT_EQ(steps_in(folder), all_steps_);
}

TEST_F(HookTest, ARunThatARuleEndsAsksOnce) {
  const fs::path folder = fresh("stopped");
  EXPECT_EQ(run_in(folder, with_hook(kCounting, {"stop.tokens=129"})).status, RunStatus::kStopped);
  EXPECT_EQ(read_file(folder_ / "calls"), "x\nx\n");  // after steps 0 and 2
  run_in(folder, with_hook(kCounting));
  run_in(fresh("whole"), with_hook(kCounting));
  EXPECT_EQ(untimed_lines(folder), untimed_lines(folder_ / "whole"));
}

// A signal ends the hook, so that the run can save in time.
TEST_F(HookTest, ASignalIsNotKeptWaiting) {
  const ConfigNode config = with_hook("[ -e \"$HERE/slow\" ] && touch \"$HERE/waits\" && sleep 300\n" + kCounting);
  const fs::path folder = fresh("run");
  std::atomic<bool> stop = false;
  TrainHooks hooks;
  hooks.stop = &stop;
  hooks.progress = [&](const Progress& progress) {
    if (progress.done.step == 1) write_plainly(folder_ / "slow", "");
  };
  std::thread signal([&] {
    while (!is_there(folder_ / "waits")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop = true;
  });
  const RunRecord stopped = run_in(folder, config, hooks);
  signal.join();
  EXPECT_EQ(stopped.status, RunStatus::kInterrupted);
  EXPECT_EQ(stopped.steps, 2U);
  fs::remove(folder_ / "slow");
  EXPECT_EQ(run_in(folder, config).status, RunStatus::kCompleted);
  run_in(fresh("whole"), config);
  EXPECT_EQ(untimed_lines(folder), untimed_lines(folder_ / "whole"));
}

TEST_F(HookTest, WhatItWritesIsQuotedSafely) {
  EXPECT_THAT(failure_of("printf '\\033[2J{\"a\": \\nNaN}'"),
              AllOf(HasSubstr("it wrote: '\xef\xbf\xbd[2J{\"a\":  NaN}'"), Not(HasSubstr("\033"))));
  EXPECT_THAT(failure_of("echo no >&2; exit 1"), HasSubstr("ended with exit code 1; on standard error: 'no'; mend"));
  EXPECT_THAT(failure_of("kill -KILL $$"), HasSubstr("at step 0 ended with SIGKILL; mend"));
  EXPECT_THAT(failure_of("yes"),
              AllOf(HasSubstr("wrote more than 65536 bytes, expected one JSON object, and was killed; "
                              "it wrote: 'y y y"),
                    HasSubstr("y ...'; mend")));
  EXPECT_LT(failure_of("yes >&2", {"eval.hook_seconds=0.2"}).size(), 1000U);
}

TEST_F(HookTest, ALimitInTime) {
  std::string failure;
  // On a busy machine the hook begins later.
  for (const char* seconds : {"0.2", "2", "20", "200"}) {
    failure = failure_of("echo early; sleep 3000 & sleep 3000", {std::string("eval.hook_seconds=") + seconds});
    EXPECT_THAT(failure, HasSubstr(std::string("took more than ") + seconds + " s (eval.hook_seconds) and was killed"));
    if (failure.find("'early'") != std::string::npos) break;
  }
  EXPECT_THAT(failure, HasSubstr(" and was killed; it wrote: 'early'; mend"));
}

TEST_F(HookTest, AProgramThatIsNotThere) {
  EXPECT_THAT(message_of([&] { run_in(fresh("run"), small_config({"eval.hook=[/nowhere/score, x]"})); }),
              HasSubstr("the hook '/nowhere/score x' at step 0 could not be started: No such file or directory; mend"));
}

TEST_F(HookTest, SettingsThatAreNone) {
  const auto refusal = [](const std::string& override_text) {
    return message_of([&] { const eggroll::Setup setup(small_config({override_text}), built_plugins()); });
  };
  const std::string expected = ", expected a list of a program and its arguments such as [./score.py], or null";
  EXPECT_THAT(refusal("eval.hook=./x"), HasSubstr("eval.hook is the text './x'" + expected));
  EXPECT_THAT(refusal("eval.hook=[]"), HasSubstr("eval.hook is a list without a program" + expected));
  EXPECT_THAT(refusal("eval.hook=['']"), HasSubstr("eval.hook is a list without a program" + expected));
  EXPECT_THAT(refusal("eval.hook=[sh, 5]"), HasSubstr("eval.hook.1 is 5, expected text"));
  EXPECT_THAT(refusal("eval.hook_seconds=0"), HasSubstr("eval.hook_seconds is 0, expected a number from 0.001 to"));
  EXPECT_THAT(refusal("eval.hook_sample.tokens=-1"), HasSubstr("eval.hook_sample.tokens is -1, expected an integer"));
  EXPECT_THAT(refusal("eval.hook_sample.temperature=-1"), HasSubstr("eval.hook_sample.temperature is -1, expected"));
  EXPECT_THAT(refusal("+eval.hook_sample.top=1"), HasSubstr("unknown key 'eval.hook_sample.top'"));
}

TEST(HookHash, ARunIsTheSameWithAnyHook) {
  const std::string hash = run_hash(small_config());
  for (const char* other : {"eval.hook=[sh]", "eval.hook_seconds=1", "eval.hook_sample.seed=1"}) {
    EXPECT_EQ(run_hash(small_config({other})), hash) << other;
  }
  const ConfigNode before = small_config({"~eval.hook", "~eval.hook_seconds", "~eval.hook_sample"});
  EXPECT_EQ(run_hash(before), hash);
  EXPECT_FALSE(eggroll::Setup(before, built_plugins()).eval.hook.has_value());
}

TEST(HookHash, AProgramWithAFolderHasAnAbsolutePath) {
  const auto program = [](const std::string& override_text) {
    return with_absolute_paths(small_config({override_text})).at("eval.hook.0").text();
  };
  EXPECT_EQ(program("eval.hook=[./a.py, ./b]"), (fs::current_path() / "a.py").string());
  EXPECT_EQ(program("eval.hook=[python3]"), "python3");
}

}  // namespace
}  // namespace eggroll::test
