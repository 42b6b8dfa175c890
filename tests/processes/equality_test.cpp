// The weights are those of one process, however many processes share a run, share its updates or continue it.
#include <fmt/format.h>

#include "processes/shared_run.h"
#include "train/journal.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class EqualityTest : public SharedRunTest {
 protected:
  // Runs this on a number of processes and checks its record; returns the digest of its weights.
  std::string digest_of(int processes, const std::string& update, Arguments arguments) const {
    arguments.insert(arguments.end(), {"results.dir=shared", "processes.update=" + update});
    const Result result = Process(work_, shared(processes, arguments)).wait();
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    const fs::path run = fs::directory_iterator(work_ / "shared")->path();
    const nlohmann::json record = record_in(run);
    EXPECT_EQ(record.at("processes").at("count"), processes);
    const nlohmann::json method = record.at("processes").at("update").at("method");
    EXPECT_TRUE(update == "auto" || update == method) << method;
    expect_completed(run, record.at("weights_sha256"));
    fs::remove_all(work_ / "shared");
    return record.at("weights_sha256");
  }
};

TEST_F(EqualityTest, WeightsOfTheGruDoNotDependOnTheProcesses) {
  const std::string digest = undisturbed(gru());
  for (const auto& [processes, update] : {std::pair{1, "auto"}, {2, "sharded"}, {3, "rebuilt"}, {5, "sharded"}}) {
    EXPECT_EQ(digest_of(processes, update, gru()), digest) << processes;
  }
}

TEST_F(EqualityTest, WeightsOfTheTransformerDoNotDependOnTheProcesses) {
  const std::string digest = undisturbed(former());
  for (const auto& [processes, update] : {std::pair{1, "sharded"}, {2, "rebuilt"}, {3, "sharded"}, {5, "auto"}}) {
    EXPECT_EQ(digest_of(processes, update, former()), digest) << processes;
  }
}

// Signs travel packed. The whole population reads one stream, which the processes then share.
TEST_F(EqualityTest, SignsAndOneStreamForAll) {
  const Arguments run = gru({"fitness=sign", "train.members_per_stream=32"});
  const std::string digest = undisturbed(run);
  for (const int processes : {2, 5}) EXPECT_EQ(digest_of(processes, "auto", run), digest) << processes;
}

// The figures and the journal are made of the losses of all processes.
TEST_F(EqualityTest, FiguresAndJournalAreThoseOfOneProcess) {
  ASSERT_EQ(eggroll(gru({"results.dir=one"})).exit_code, 0);
  ASSERT_EQ(Process(work_, shared(3, gru({"results.dir=three"}))).wait().exit_code, 0);
  const fs::path one = fs::directory_iterator(work_ / "one")->path();
  const fs::path three = fs::directory_iterator(work_ / "three")->path();
  EXPECT_EQ(read_file(one / "journal.bin"), read_file(three / "journal.bin"));
  const nlohmann::json alone = record_in(one);
  const nlohmann::json shared = record_in(three);
  for (const char* key : {"newest", "best", "final", "member_tokens", "unique_tokens", "config_hash", "baselines"}) {
    EXPECT_EQ(alone.at(key), shared.at(key)) << key;
  }
}

// Each process evaluates with the average of every tensor, whichever process updates the tensor.
TEST_F(EqualityTest, TheAverageOfTheWeightsIsThatOfOneProcess) {
  const auto run = [](const std::string& results) {
    return former({"optimizer.average=0.9", "train.steps=40", "results.dir=" + results});
  };
  ASSERT_EQ(eggroll(run("one")).exit_code, 0);
  const fs::path one = fs::directory_iterator(work_ / "one")->path();
  const auto evaluations_in = [](const fs::path& folder) {
    std::vector<nlohmann::json> all;
    std::ifstream lines(folder / "metrics.jsonl");
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      if (json.contains("average_held_out_bits_per_unit")) all.push_back(json.at("average_held_out_bits_per_unit"));
    }
    return all;
  };
  const auto slots_in = [](const fs::path& folder) {
    return nlohmann::json::parse(read_file(folder / "checkpoints/step-00000040/checkpoint.json"))
        .at("files")
        .at("optimizer.safetensors");
  };
  ASSERT_EQ(evaluations_in(one).size(), 5U);
  for (const auto& [processes, update] : {std::pair{2, "sharded"}, {3, "rebuilt"}, {5, "sharded"}, {2, "auto"}}) {
    const std::string results = fmt::format("{}-{}", update, processes);
    Arguments arguments = run(results);
    arguments.push_back(fmt::format("processes.update={}", update));
    const Result result = Process(work_, shared(processes, arguments)).wait();
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const fs::path folder = fs::directory_iterator(work_ / results)->path();
    EXPECT_EQ(evaluations_in(folder), evaluations_in(one)) << results;
    EXPECT_EQ(record_in(folder).at("average"), record_in(one).at("average")) << results;
    EXPECT_EQ(record_in(folder).at("weights_sha256"), record_in(one).at("weights_sha256")) << results;
    EXPECT_EQ(slots_in(folder), slots_in(one)) << results;
  }
}

// Process 0 alone asks the hook; where it fails, all processes save together, and others can go on.
TEST_F(EqualityTest, AHookIsAskedOnceAndItsFailureEndsARunThatGoesOn) {
  const std::string hook = (work_ / "hook.sh").string();
  write_plainly(hook, "echo x >> '" + work_.string() + "/calls'\n[ ! -e '" + work_.string() +
                          "/broken' ] || exit 3\nsed 's/.*\"step\":\\([0-9]*\\).*/{\"step\": \\1}/'\n");
  const auto run = [&](const std::string& results) {
    return gru({"results.dir=" + results, "eval.every=50", "eval.hook=[sh, '" + hook + "']"});
  };
  const auto lines_of = [](const fs::path& folder) {
    std::vector<std::string> lines;
    std::ifstream file(folder / "metrics.jsonl");
    for (std::string line; std::getline(file, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      lines.push_back(json.value("hook", nlohmann::json()).dump() +
                      json.value("train_bits_per_unit", nlohmann::json()).dump());
    }
    return lines;
  };
  ASSERT_EQ(eggroll(run("one")).exit_code, 0);
  ASSERT_EQ(Process(work_, shared(3, run("three"))).wait().exit_code, 0);
  EXPECT_EQ(read_file(work_ / "calls"), "x\nx\nx\nx\nx\nx\n");
  const fs::path one = fs::directory_iterator(work_ / "one")->path();
  EXPECT_EQ(lines_of(fs::directory_iterator(work_ / "three")->path()), lines_of(one));

  write_plainly(work_ / "broken", "");
  const Result failed = Process(work_, shared(3, run("failed"))).wait();
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr("hook.sh' at step 0 ended with exit code 3; mend it and go on with: "));
  const fs::path folder = fs::directory_iterator(work_ / "failed")->path();
  EXPECT_EQ(record_in(folder).at("status"), "failed");
  EXPECT_TRUE(fs::exists(folder / "checkpoints" / "step-00000000"));
  fs::remove(work_ / "broken");
  ASSERT_EQ(Process(work_, shared(2, run("failed"))).wait().exit_code, 0);
  EXPECT_EQ(lines_of(folder), lines_of(one));
  EXPECT_EQ(record_in(folder).at("weights_sha256"), record_in(one).at("weights_sha256"));
}

// All processes take the best evaluation's weights, and measure them.
TEST_F(EqualityTest, PatienceEndsOnTheBestEvaluationOfOneProcess) {
  const auto run = [](const std::string& results) {
    return former({"stop.patience=2", "eval.every=3", "noise.sigma_shift=0", "optimizer.average=0.9",
                   "processes.update=sharded", "results.dir=" + results});
  };
  ASSERT_EQ(eggroll(run("one")).exit_code, 0);
  ASSERT_EQ(Process(work_, shared(3, run("three"))).wait().exit_code, 0);
  const nlohmann::json alone = record_in(fs::directory_iterator(work_ / "one")->path());
  const nlohmann::json shared = record_in(fs::directory_iterator(work_ / "three")->path());
  ASSERT_EQ(alone.at("status"), "stopped");
  EXPECT_EQ(alone.at("final").at("step"), alone.at("best").at("step"));
  for (const char* key :
       {"status", "steps", "newest", "best", "final", "average", "weights_sha256", "stopped_because"}) {
    EXPECT_EQ(alone.at(key), shared.at(key)) << key;
  }
}

// Each process holds the slots of its own tensors; a checkpoint gathers them.
TEST_F(EqualityTest, AStoppedRunGoesOnWithOtherProcesses) {
  const std::string digest = undisturbed(former());
  for (const int processes : {3, 1, 5}) {
    Process process(work_, shared(processes, former({"processes.update=sharded"})));
    const size_t before = lines_in(run_folder());
    ASSERT_TRUE(process.wait_until([&] {
      return !run_folder().empty() && fs::exists(run_folder() / "record.json") && lines_in(run_folder()) > before + 15;
    })) << process.wait().err;
    kill_all(process, processes);
  }
  EXPECT_EQ(Process(work_, shared(2, former())).wait().exit_code, 0);
  expect_completed(run_folder(), digest);
}

// A transformer's members have no states, so the journal leads to the last step without a forward pass, and no line is
// written anew.
TEST_F(EqualityTest, ATransformerGoesOnFromItsLastStep) {
  const Arguments run = former({"checkpoint.every=20"});
  const std::string digest = undisturbed(run);
  Process process(work_, shared(2, run));
  ASSERT_TRUE(process.wait_until([&] {
    const fs::path checkpoints = run_folder() / "checkpoints";
    return !run_folder().empty() && fs::exists(checkpoints) && !fs::is_empty(checkpoints) &&
           lines_in(run_folder()) > 35;
  })) << process.wait().err;
  kill_all(process, 2);
  std::string before = read_file(run_folder() / "metrics.jsonl");
  // the last line may be cut short, and the journal has an evaluation's loss only with the next step
  for (int i = 0; i < 2; ++i) {
    before.pop_back();
    before.resize(before.rfind('\n') + 1);
  }
  const Result rest = Process(work_, shared(3, run)).wait();
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  expect_completed(run_folder(), digest);
  const std::string after = read_file(run_folder() / "metrics.jsonl");
  EXPECT_EQ(after.substr(0, before.size()), before);
}

// A scheduler may send the signal to one process only.
TEST_F(EqualityTest, ASignalToOneProcessSavesAndEndsAll) {
  const std::string digest = undisturbed(gru({"train.steps=300"}));
  Process process(work_, shared(3, gru({"train.steps=300"})));
  ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 15; })) << process.wait().err;
  const pid_t pid = pids_of(process, 3)[1];
  ASSERT_GT(pid, 0);
  ::kill(pid, SIGTERM);
  const Result stopped = process.wait();
  EXPECT_NE(stopped.exit_code, 0);
  EXPECT_THAT(stopped.out, HasSubstr("steps, saved; go on with: eggroll resume"));
  EXPECT_THAT(stopped.err, testing::Not(HasSubstr("eggroll: ")));
  const nlohmann::json record = record_in(run_folder());
  EXPECT_EQ(record.at("status"), "interrupted");
  EXPECT_EQ(steps_in(run_folder()), each_step_once(record.at("steps")));
  const std::string folder = "results/runs/" + run_folder().filename().string();
  EXPECT_EQ(Process(work_, shared(2, {"resume", folder})).wait().exit_code, 0);
  expect_completed(run_folder(), digest);
}

// The run tries both ways to update and keeps the faster one.
TEST_F(EqualityTest, TheFasterUpdateIsChosenAndRecorded) {
  const Result result = Process(work_, shared(2, former({"processes.update=auto"}))).wait();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json update = record_in(run_folder()).at("processes").at("update");
  const bool sharded = update.at("sharded_seconds") < update.at("rebuilt_seconds");
  EXPECT_EQ(update.at("method"), sharded ? "sharded" : "rebuilt");
  EXPECT_EQ(update.at("bytes_per_step") > 0, sharded);
}

TEST_F(EqualityTest, AStepSendsAtMostSixteenTenthsOfABitAPair) {
  const Arguments run = tiny_run({"train.population=65536", "train.steps=1", "fitness=sign", "model.width=8"});
  ASSERT_EQ(Process(work_, shared(2, run)).wait().exit_code, 0);
  const nlohmann::json record = record_in(run_folder());
  constexpr uint64_t kHeader = 48;
  EXPECT_EQ(record.at("processes").at("bytes_per_step"), kHeader + (65536 / 2 / 2 + 4) / 5);
}

}  // namespace
}  // namespace eggroll::test
