// A run's output, its record and its metrics. They are the same on any number of threads, no run is made twice, and a
// run learns.
#include <fmt/format.h>

#include <map>

#include "cli/eggroll_command.h"
#include "eggroll/session_plan.h"

namespace eggroll::test {
namespace {

class RunTest : public CliTest {
 protected:
  // Exit code 2 of the validator: jsonschema is not installed.
  static void expect_valid(const fs::path& record) {
    const std::string script = EGGROLL_SOURCE_DIR "/tests/record/validate_record.py";
    const Result result = Process(record.parent_path(), {"/usr/bin/env", "python3", script, record.string()}).wait();
    if (result.exit_code == 2 || result.exit_code == 127) return;
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  }
};

TEST_F(RunTest, SaysWhatItDidAndKeepsIt) {
  const Result result = good(eggroll(tiny_run({"backend=auto"})));
  const fs::path run = run_folder();
  const nlohmann::json record = record_in(run);
  const std::string folder = "results/runs/" + run.filename().string();
  EXPECT_THAT(result.out, ::testing::ContainsRegex("backend [a-z0-9]+: highest score [0-9]+ of: .*reference 1"));
  EXPECT_THAT(result.out, HasSubstr("run folder " + folder + "\n"));
  EXPECT_THAT(result.out, HasSubstr("step 40/40  0s left  loss "));
  EXPECT_THAT(result.out, HasSubstr("held-out "));
  EXPECT_THAT(result.out, HasSubstr("on the same data: unigram "));
  EXPECT_THAT(result.out, HasSubstr("weights sha256 " + record.at("weights_sha256").get<std::string>() + "\n"));
  EXPECT_THAT(result.out, HasSubstr("record " + folder + "/record.json\n"));

  expect_completed(run, record.at("weights_sha256"));
  EXPECT_EQ(record.at("steps"), 40);
  EXPECT_EQ(record.at("member_tokens"), 40 * 32 * 32);
  EXPECT_EQ(record.at("unique_tokens"), 40 * 16 * 32);
  EXPECT_EQ(run.filename().string(), "count-" + record.at("config_hash").get<std::string>().substr(0, 12));
  EXPECT_THAT(record.at("command_line").dump(), HasSubstr("model.width=16"));
  EXPECT_EQ(record.at("command_line").at(0), "eggroll");
  EXPECT_THAT(record.at("overrides").dump(), HasSubstr("model.width=16"));
  EXPECT_EQ(record.at("config").at("model").at("width"), 16);
  EXPECT_EQ(record.at("plugins").size(), 3U);
  EXPECT_EQ(record.at("device"), record.at("environment").at("cpu_model"));
  EXPECT_THAT(result.out, HasSubstr(fmt::format(
                              "{} on {}: {}; {} of memory\n", record.at("plugins").at(2).at("name").get<std::string>(),
                              record.at("device").get<std::string>(), record.at("plan").get<std::string>(),
                              memory_text(record.at("memory_bytes")))));
  expect_valid(run / "record.json");
}

TEST_F(RunTest, AForcedBackendSaysSo) {
  EXPECT_THAT(eggroll(tiny_run({"train.steps=1"})).out, HasSubstr("backend reference: asked for by name\n"));
}

TEST_F(RunTest, ARunOfJointTablesIsReadAndDoesNotGoOn) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::string run = run_name();
  const fs::path file = run_folder() / "config.yaml";
  std::string config = read_file(file);
  config.erase(0, config.find('\n') + 1);  // its checksum
  const size_t at = config.find("\nperturb:\n");
  ASSERT_NE(at, std::string::npos);
  write_plainly(file, config.insert(at + 10, "  tables: joint\n"));
  for (const Arguments& reads : {Arguments{"ls"}, {"report", run}, {"compare", run, run}}) {
    good(eggroll(reads));
  }
  for (const char* goes_on : {"resume", "replay"}) {
    const Result result = eggroll({goes_on, run});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("perturb.tables is no key any more"));
  }
}

TEST_F(RunTest, AFinishedRunIsNotRunAgain) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const auto before = contents(run_folder());
  const std::string folder = run_name();
  for (const Arguments& arguments :
       {tiny_run(), tiny_run({"backend=auto", "backend.threads=2", "checkpoint.every=7"}), {"resume", folder}}) {
    const Result again = good(eggroll(arguments));
    EXPECT_THAT(again.out, HasSubstr("this run is finished already; remove " + folder + " to run it again\n"));
    EXPECT_THAT(again.out, HasSubstr("weights sha256 "));
    EXPECT_EQ(contents(run_folder()), before);
  }
}

TEST_F(RunTest, ThreadsChangeNothing) {
  const std::string one = undisturbed(tiny_run());
  EXPECT_EQ(undisturbed(tiny_run({"backend.threads=2"})), one);
  EXPECT_EQ(undisturbed(tiny_run({"backend.threads=0"})), one);
  EXPECT_NE(undisturbed(tiny_run({"seed=1"})), one);
}

TEST_F(RunTest, ReplayRebuildsTheWeights) {
  ASSERT_EQ(eggroll(tiny_run({"checkpoint.keep=4"})).exit_code, 0);
  const std::string folder = run_name();
  const std::string digest = record_in(run_folder()).at("weights_sha256");
  EXPECT_EQ(good(eggroll({"replay", folder})).out, "replayed 40 steps\nweights sha256 " + digest +
                                                       "\nequal to the checkpoint " + folder +
                                                       "/checkpoints/step-00000040\n");
  const Result part = good(eggroll({"replay", folder, "--steps", "30"}));
  const std::string at_30 =
      nlohmann::json::parse(read_file(run_folder() / "checkpoints/step-00000030/checkpoint.json")).at("weights_sha256");
  EXPECT_EQ(part.out,
            "replayed 30 steps\nweights sha256 " + at_30 + "\nthe newest checkpoint is of step 40: not compared\n");
  expect_one_sentence(
      eggroll({"replay", folder, "--steps", "41"}),
      {"journal.bin holds 40 steps", "expected at least 41", "ask for fewer steps, or let the run go on first"});
  const fs::path journal = run_folder() / "journal.bin";
  fs::resize_file(journal, fs::file_size(journal) - 1);
  refuses({"replay", folder},
          {folder + "/journal.bin holds 39 steps", "step-00000040 was made after 40", "restore it"});
}

// The processor time of all ended processes: other work on the machine hardly changes it.
double seconds_of_processor() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A machine that joins late has only seed, journal and lock, and a replay has no forward pass. The run takes some
// twenty times as long.
TEST_F(RunTest, AFreshProcessCatchesUpInLessTimeThanTheRunTook) {
  const double before = seconds_of_processor();
  ASSERT_EQ(
      eggroll(tiny_run({"model.width=32", "train.population=128", "train.tokens=128", "train.steps=30"})).exit_code, 0);
  const double run_seconds = seconds_of_processor() - before;
  const fs::path run = run_folder();
  const nlohmann::json record = record_in(run);
  const fs::path late = work_ / "late";
  fs::create_directory(late);
  for (const char* file : {"config.yaml", "journal.bin", "lock"}) fs::copy(run / file, late / file);

  const Result replayed = good(eggroll({"replay", late.string()}));
  EXPECT_THAT(replayed.out,
              StartsWith("replayed 30 steps\nweights sha256 " + record.at("weights_sha256").get<std::string>()));
  EXPECT_LT(seconds_of_processor() - before - run_seconds, run_seconds / 2);
}

TEST_F(RunTest, SampleGoesOnFromThePrompt) {
  ASSERT_EQ(eggroll(tiny_run()).exit_code, 0);
  const std::string run = run_folder().string();
  const auto sample = [&](const Arguments& more) {
    return good(eggroll(joined({"sample", run, "--count", "20"}, more))).out;
  };
  const std::string text = sample({"--prompt", "3,4", "--seed", "5"});
  EXPECT_TRUE(text.starts_with("3,4,")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), ','), 21);
  EXPECT_EQ(sample({"--prompt", "3,4", "--seed", "5"}), text);
  EXPECT_NE(sample({"--prompt", "3,4", "--seed", "5", "--temperature", "50"}), text);
  EXPECT_EQ(sample({"--temperature", "0", "--seed", "1"}), sample({"--temperature", "0", "--seed", "2"}));
  EXPECT_EQ(sample({"--top-k", "1"}), sample({"--temperature", "0"}));
  EXPECT_EQ(sample({"--top-p", "1e-9"}), sample({"--temperature", "0"}));
  const std::string two = sample({"--samples", "2", "--prompt", "3,4", "--seed", "5"});
  EXPECT_TRUE(two.starts_with("--- sample 0 ---\n" + text + "--- sample 1 ---\n3,4,")) << two;
  const auto json = nlohmann::json::parse(sample({"--samples", "2", "--prompt", "3,4", "--seed", "5", "--json"}));
  ASSERT_EQ(json.at("samples").size(), 2U);
  EXPECT_EQ("3,4," + json.at("samples")[0].at("text").get<std::string>() + "\n", text);
  EXPECT_EQ(json.at("prompt"), nlohmann::json({3, 4}));
  EXPECT_EQ(json.at("step"), 40);
  EXPECT_EQ(json.at("seed"), 5);
  EXPECT_EQ(json.at("samples")[1].at("tokens").size(), 20U);
  EXPECT_NE(json.at("samples")[0].at("tokens"), json.at("samples")[1].at("tokens"));
  for (const auto& [option, value] : {std::pair{"--top-p", "0"},
                                      {"--top-p", "nan"},
                                      {"--count", "010"},
                                      {"--count", ""},
                                      {"--seed", "18446744073709551616"},
                                      {"--seed", "-1"},
                                      {"--top-k", "1.5"}}) {
    refuses({"sample", run, option, value}, {option, fmt::format("it is '{}', expected a", value)});
  }
  for (const char* value : {"nan", "hot"}) {
    refuses({"sample", run, "--temperature", value},
            {fmt::format("--temperature: it is '{}', expected a number from 0 to 100", value)});
  }
  refuses({"sample", run, "--prompt", "3,16"},
          {"holds the token 16", "expected a token below the vocabulary's size 16", "give another prompt"});
  refuses({"sample", run, "--prompt", "three"},
          {"'three'", "expected token numbers with commas between", "such as 3,14,15"});
}

// Every place that shows a figure says whether it is of the weights or of their average.
TEST_F(RunTest, TheAverageOfTheWeightsIsSaidAndSampled) {
  const Result result = good(eggroll(tiny_run({"optimizer.average=0.9"})));
  const nlohmann::json record = record_in(run_folder());
  const auto bits_of = [](const nlohmann::json& evaluation) {
    return fmt::format("{:.4f}", evaluation.at("bits_per_unit").get<double>());
  };
  const nlohmann::json& average = record.at("average");
  EXPECT_NE(bits_of(average.at("final")), bits_of(record.at("final")));
  EXPECT_THAT(result.out, HasSubstr("  held-out " + bits_of(record.at("newest")) +
                                    " bits per token  average of weights " + bits_of(average.at("newest")) + "  "));
  EXPECT_THAT(result.out, HasSubstr("\nheld-out " + bits_of(record.at("final")) + " bits per token after 40 steps"));
  EXPECT_THAT(result.out, HasSubstr("\naverage of weights: held-out " + bits_of(average.at("final")) +
                                    " bits per token (the same tokens)\n"));
  EXPECT_THAT(result.out,
              HasSubstr("\naverage of weights on the curve's tokens: " + bits_of(average.at("newest")) + "\n"));
  EXPECT_EQ(record.at("weights_sha256"), undisturbed(tiny_run()));
  expect_valid(run_folder() / "record.json");

  const std::string run = run_folder().string();
  const auto sample = [&](const Arguments& more) {
    return good(eggroll(joined({"sample", run, "--count", "200", "--prompt", "3", "--seed", "1"}, more))).out;
  };
  const std::string text = sample({});
  EXPECT_EQ(sample({"--weights", "weights"}), text);
  EXPECT_NE(sample({"--weights", "average"}), text);
  refuses({"sample", run, "--weights", "best"}, {"--weights", "best", "weights", "average"});
  const Result replayed = eggroll({"replay", run});
  EXPECT_THAT(replayed.out, HasSubstr("equal to the checkpoint "));
}

TEST_F(RunTest, ARunWithoutAnAverageHasNoneToSample) {
  EXPECT_THAT(good(eggroll(tiny_run())).out, Not(HasSubstr("average")));
  EXPECT_FALSE(record_in(run_folder()).contains("average"));
  const std::string run = run_folder().string();
  refuses({"sample", run, "--weights", "average"},
          {"--weights is average", "keeps no average of its weights", "leave --weights out"});
}

TEST_F(RunTest, TextIsSampledAsText) {
  const std::string text = april_text(3000);
  write_plainly(work_ / "text", text);
  const Result result =
      good(eggroll({"run", "experiment=plain", "dataset.path=text", "model.width=8", "train.population=16",
                    "train.steps=3", "train.members_per_stream=8", "name=april"}));
  EXPECT_THAT(result.out, HasSubstr("bits per byte"));
  EXPECT_THAT(result.out, HasSubstr("sample results/runs/april-"));
  const std::string samples = read_file(run_folder() / "samples.txt");
  const size_t held_out = (text.size() + 5) / 10;  // its first 64 bytes are the prompt
  EXPECT_THAT(samples, StartsWith(text.substr(text.size() - held_out, 64)));
  EXPECT_EQ(samples.size(), 64U + 400U + 1U);
  const Result sampled = good(eggroll({"sample", run_folder().string(), "--prompt", "It was ", "--count", "5"}));
  EXPECT_EQ(sampled.out.size(), 7U + 5U + 1U);
  EXPECT_THAT(sampled.out, StartsWith("It was "));
  expect_valid(run_folder() / "record.json");
}

// Half the width of experiments/count.yaml, a seventh of its work.
TEST_F(RunTest, CountIsLearnt) {
  good(eggroll({"run", "experiment=count", "model.width=32"}));
  const nlohmann::json record = record_in(run_folder());
  EXPECT_LE(record.at("final").at("bits_per_unit").get<double>(), 0.005);
  EXPECT_GE(record.at("final").at("bits_per_unit").get<double>(), 0.0);
  EXPECT_GT(record.at("baselines").at("unigram").get<double>(), 3.9);
  expect_valid(run_folder() / "record.json");
}

}  // namespace
}  // namespace eggroll::test
