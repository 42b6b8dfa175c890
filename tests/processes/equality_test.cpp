// Several processes that share a run, share its updates or continue it reach the weights of one process.
#include <fmt/format.h>

#include "processes/shared_run.h"
#include "train/journal.h"

namespace eggroll::test {
namespace {

class EqualityTest : public SharedRunTest {
 protected:
  // Runs this on a number of processes and checks its record; returns the digest of its weights.
  std::string digest_of(int processes, const std::string& update, const Arguments& arguments) const {
    const fs::path run = run_of(processes, "shared", joined(arguments, {"processes.update=" + update}));
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
  const fs::path one = run_of(0, "one", gru());
  const fs::path three = run_of(3, "three", gru());
  EXPECT_EQ(read_file(one / "journal.bin"), read_file(three / "journal.bin"));
  const nlohmann::json alone = record_in(one);
  const nlohmann::json shared = record_in(three);
  for (const char* key : {"newest", "best", "final", "member_tokens", "unique_tokens", "config_hash", "baselines"}) {
    EXPECT_EQ(alone.at(key), shared.at(key)) << key;
  }
}

// Each process evaluates with the average of every tensor, whichever process updates the tensor.
TEST_F(EqualityTest, TheAverageOfTheWeightsIsThatOfOneProcess) {
  const Arguments run = former({"optimizer.average=0.9", "train.steps=40"});
  const fs::path one = run_of(0, "one", run);
  const auto evaluations_in = [](const fs::path& folder) {
    std::vector<nlohmann::json> all;
    for (const std::string& line : lines_of(read_file(folder / "metrics.jsonl"))) {
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
    const fs::path folder = run_of(processes, results, joined(run, {std::string("processes.update=") + update}));
    EXPECT_EQ(evaluations_in(folder), evaluations_in(one)) << results;
    EXPECT_EQ(record_in(folder).at("average"), record_in(one).at("average")) << results;
    EXPECT_EQ(record_in(folder).at("weights_sha256"), record_in(one).at("weights_sha256")) << results;
    EXPECT_EQ(slots_in(folder), slots_in(one)) << results;
  }
}

// Only process 0 asks the hook. If the hook fails, all processes save together, and other processes can go on.
TEST_F(EqualityTest, AHookIsAskedOnceAndItsFailureEndsARunThatGoesOn) {
  const std::string hook = (work_ / "hook.sh").string();
  write_plainly(hook, "echo x >> '" + work_.string() + "/calls'\n[ ! -e '" + work_.string() +
                          "/broken' ] || exit 3\nsed 's/.*\"step\":\\([0-9]*\\).*/{\"step\": \\1}/'\n");
  const Arguments run = gru({"eval.every=50", "eval.hook=[sh, '" + hook + "']"});
  const auto figures_of = [](const fs::path& folder) {
    std::vector<std::string> figures;
    for (const std::string& line : lines_of(read_file(folder / "metrics.jsonl"))) {
      const nlohmann::json json = nlohmann::json::parse(line);
      figures.push_back(json.value("hook", nlohmann::json()).dump() +
                        json.value("train_bits_per_unit", nlohmann::json()).dump());
    }
    return figures;
  };
  const fs::path one = run_of(0, "one", run);
  EXPECT_EQ(figures_of(run_of(3, "three", run)), figures_of(one));
  EXPECT_EQ(read_file(work_ / "calls"), "x\nx\nx\nx\nx\nx\n");

  write_plainly(work_ / "broken", "");
  const Result failed = run_shared(3, joined(run, {"results.dir=failed"}));
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr("hook.sh' at step 0 ended with exit code 3; mend it and go on with: "));
  const fs::path folder = fs::directory_iterator(work_ / "failed")->path();
  EXPECT_EQ(record_in(folder).at("status"), "failed");
  EXPECT_TRUE(fs::exists(folder / "checkpoints" / "step-00000000"));
  fs::remove(work_ / "broken");
  run_of(2, "failed", run);
  EXPECT_EQ(figures_of(folder), figures_of(one));
  EXPECT_EQ(record_in(folder).at("weights_sha256"), record_in(one).at("weights_sha256"));
}

// All processes take the best evaluation's weights, and measure them.
TEST_F(EqualityTest, PatienceEndsOnTheBestEvaluationOfOneProcess) {
  const Arguments run = former(
      {"stop.patience=2", "eval.every=3", "noise.sigma_shift=0", "optimizer.average=0.9", "processes.update=sharded"});
  const nlohmann::json alone = record_in(run_of(0, "one", run));
  const nlohmann::json shared = record_in(run_of(3, "three", run));
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
    kill_on_the_way(processes, former({"processes.update=sharded"}));
  }
  EXPECT_EQ(run_shared(2, former()).exit_code, 0);
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
  good(run_shared(3, run));
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
  EXPECT_THAT(stopped.err, Not(HasSubstr("eggroll: ")));
  const nlohmann::json record = record_in(run_folder());
  EXPECT_EQ(record.at("status"), "interrupted");
  EXPECT_EQ(steps_in(run_folder()), each_step_once(record.at("steps")));
  const std::string folder = run_name();
  EXPECT_EQ(run_shared(2, {"resume", folder}).exit_code, 0);
  expect_completed(run_folder(), digest);
}

// The run tries both ways to update and keeps the faster one.
TEST_F(EqualityTest, TheFasterUpdateIsChosenAndRecorded) {
  good(run_shared(2, former({"processes.update=auto"})));
  const nlohmann::json update = record_in(run_folder()).at("processes").at("update");
  const bool sharded = update.at("sharded_seconds") < update.at("rebuilt_seconds");
  EXPECT_EQ(update.at("method"), sharded ? "sharded" : "rebuilt");
  EXPECT_EQ(update.at("bytes_per_step") > 0, sharded);
}

TEST_F(EqualityTest, AStepSendsAtMostSixteenTenthsOfABitAPair) {
  const Arguments run = tiny_run({"train.population=65536", "train.steps=1", "fitness=sign", "model.width=8"});
  ASSERT_EQ(run_shared(2, run).exit_code, 0);
  const nlohmann::json record = record_in(run_folder());
  constexpr uint64_t kHeader = 48;
  EXPECT_EQ(record.at("processes").at("bytes_per_step"), kHeader + (65536 / 2 / 2 + 4) / 5);
}

}  // namespace
}  // namespace eggroll::test
