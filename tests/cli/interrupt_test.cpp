// Runs are stopped, killed and resumed. They end with the weights of an undisturbed run, and the files that a stop
// leaves can be read.
#include "cli/eggroll_command.h"
#include "support/host.h"
#include "system/machine.h"

namespace eggroll::test {
namespace {

class InterruptTest : public CliTest {
 protected:
  // The run is long enough for a signal to arrive before its end.
  static Arguments longer_run(const Arguments& more = {}) { return joined(tiny_run({"train.steps=200"}), more); }

  size_t lines() const { return lines_in(run_folder()); }

  // Waits until the run has this number of lines of metrics.
  void wait_for_lines(Process& process, size_t count) const {
    ASSERT_TRUE(process.wait_until([&] { return lines() >= count; })) << process.wait().err;
  }

  // A killed run's files can be read, and its record says that it was running.
  void expect_readable() const {
    const fs::path run = run_folder();
    EXPECT_EQ(record_in(run).at("status"), "running");
    const std::vector<uint64_t> steps = steps_in(run);
    EXPECT_EQ(steps, each_step_once(steps.size() - 1));
  }
};

class StopSignal : public InterruptTest, public testing::WithParamInterface<int> {};

TEST_P(StopSignal, FinishesTheStepSavesAndSaysHowToGoOn) {
  const std::string digest = undisturbed(longer_run());
  Process process(work_, command(longer_run()));
  wait_for_lines(process, 15);
  process.signal(GetParam());
  const Result stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 128 + GetParam()) << stopped.err;
  EXPECT_EQ(stopped.err, "");

  const fs::path run = run_folder();
  const nlohmann::json record = record_in(run);
  EXPECT_EQ(record.at("status"), "interrupted");
  EXPECT_NE(record.at("ended_utc"), nullptr);
  const uint64_t steps = record.at("steps");
  EXPECT_GE(steps, 14U);
  EXPECT_LT(steps, 200U);
  EXPECT_EQ(steps_in(run), each_step_once(steps));
  EXPECT_TRUE(fs::exists(run / "checkpoints" /
                         ("step-" + std::string(5, '0') + (steps < 100 ? "0" : "") + std::to_string(steps))));
  const std::string folder = "results/runs/" + run.filename().string();
  EXPECT_THAT(stopped.out, HasSubstr("interrupted after " + std::to_string(steps) +
                                     " of 200 steps, saved; go on with: eggroll resume " + folder + "\n"));

  const Result resumed = good(eggroll({"resume", folder}));
  expect_completed(run, digest);
  EXPECT_EQ(record_in(run).at("resumes"), 1);
  EXPECT_THAT(resumed.out, HasSubstr("weights sha256 " + digest + "\n"));
}

INSTANTIATE_TEST_SUITE_P(Signals, StopSignal, testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const testing::TestParamInfo<int>& parameter) { return signal_name(parameter.param); });

// Whether the process has a handler for the signal.
bool catches(const Process& process, int number) {
  return (std::stoull(process.status("SigCgt"), nullptr, 16) >> (number - 1) & 1) != 0;
}

// A step takes a second or more, so that both signals arrive within one.
TEST_F(InterruptTest, ASecondSignalEndsTheProcessAtOnce) {
  Process process(work_, command(tiny_run({"train.population=16384"})));
  wait_for_lines(process, 1);
  ASSERT_TRUE(catches(process, SIGINT));
  process.signal(SIGINT);
  ASSERT_TRUE(process.wait_until([&] { return !catches(process, SIGINT); }));
  process.signal(SIGINT);
  const Result result = process.wait();
  EXPECT_EQ(result.signal, SIGINT);
  expect_readable();
}

// A batch system signals all processes of a job, and the runner passes its signal on as well.
TEST_F(InterruptTest, ManyTerminatesAreOneWish) {
  Process process(work_, command(tiny_run({"train.population=16384"})));
  wait_for_lines(process, 2);  // by then the run knows how long a step should take
  ASSERT_TRUE(catches(process, SIGTERM));
  for (int i = 0; i < 3; ++i) process.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  process.signal(SIGTERM);
  const Result result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGTERM) << result.err;
  EXPECT_EQ(record_in(run_folder()).at("status"), "interrupted");
}

TEST_F(InterruptTest, UnderNohupAHangUpIsIgnored) {
  Process process(work_, joined({"/usr/bin/env", "nohup"}, command(longer_run())));
  wait_for_lines(process, 15);
  process.signal(SIGHUP);
  EXPECT_EQ(process.wait().exit_code, 0);
  EXPECT_EQ(record_in(run_folder()).at("status"), "completed");
}

// The process that starts the runs passes the signal on and starts no other run.
TEST_F(InterruptTest, OfSeveralRunsTheOneThatRunsIsSaved) {
  for (const int number : {SIGTERM, SIGHUP}) {
    fs::remove_all(runs());
    Process process(work_, command(longer_run({"--multirun", "seed=0,1", "train.steps=4000"})));
    wait_for_lines(process, 5);
    process.signal(number);
    const Result stopped = process.wait();
    EXPECT_EQ(stopped.exit_code, 128 + number) << stopped.err;
    EXPECT_THAT(stopped.out, HasSubstr("stopped at 1 of 2; the same command goes on from there\n"));
    EXPECT_EQ(record_in(run_folder()).at("status"), "interrupted");
  }
}

struct KilledRun {
  const char* name;
  Arguments more;
};

void PrintTo(const KilledRun& run, std::ostream* out) { *out << run.name; }

class Kill : public InterruptTest, public testing::WithParamInterface<KilledRun> {};

TEST_P(Kill, ThreeTimesAtRandomItEndsWithTheSameWeights) {
  const Arguments run = longer_run(GetParam().more);
  const std::string digest = undisturbed(run);
  Draws draws(20);
  size_t done = 0;
  for (int kill = 0; kill < 3; ++kill) {
    Process process(work_, command(run));
    // The kill comes some steps after the last one, at a random moment within a step, an evaluation or a checkpoint.
    wait_for_lines(process, done + 2 + draws.below(40));
    std::this_thread::sleep_for(std::chrono::microseconds(draws.below(20000)));
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().signal, SIGKILL);
    expect_readable();
    done = lines();
  }
  good(eggroll(run));
  expect_completed(run_folder(), digest);
  EXPECT_EQ(record_in(run_folder()).at("resumes"), 3);
  EXPECT_THAT(good(eggroll({"replay", run_folder().string()})).out,
              HasSubstr("weights sha256 " + digest + "\nequal to the checkpoint "));
}

// In the second run each evaluation lowers the learning rate, so steps depend on the evaluations before them.
INSTANTIATE_TEST_SUITE_P(
    Runs, Kill,
    testing::Values(KilledRun{"SignEs", {}},
                    KilledRun{"AdamWOnAPlateau",
                              {"optimizer=es_adamw", "optimizer.schedule.kind=plateau",
                               "optimizer.schedule.plateau.factor=0.8", "optimizer.schedule.plateau.patience=0",
                               "optimizer.schedule.plateau.threshold=0.9"}}),
    [](const testing::TestParamInfo<KilledRun>& parameter) { return std::string(parameter.param.name); });

// The run is killed before its first checkpoint, and while its files are being made.
TEST_F(InterruptTest, KilledAtItsVeryBeginningItStartsAnew) {
  const std::string digest = undisturbed(tiny_run());
  Draws draws(21);
  for (int kill = 0; kill < 12; ++kill) {
    Process process(work_, command(tiny_run({"checkpoint.every=1000"})));
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + draws.below(30000)));
    process.signal(SIGKILL);
    process.wait();
    // All files that exist can be read.
    if (!run_folder().empty() && fs::exists(run_folder() / "record.json")) record_in(run_folder());
    steps_in(run_folder());
  }
  EXPECT_EQ(eggroll(tiny_run({"checkpoint.every=1000"})).exit_code, 0);
  expect_completed(run_folder(), digest);
}

TEST_F(InterruptTest, AFolderInUseIsRefusedAndLeftAlone) {
  Process owner(work_, command(longer_run({"train.steps=1000000"})));
  wait_for_lines(owner, 3);
  const std::string folder = run_name();
  const std::string lock = read_file(run_folder() / "lock");
  for (const Arguments& arguments : {longer_run({"train.steps=1000000"}), Arguments{"resume", folder}}) {
    refuses(arguments, {folder + " is in use by pid " + std::to_string(owner.pid()), "wait until it ends or stop it",
                        "run the same command again"});
  }
  EXPECT_EQ(read_file(run_folder() / "lock"), lock);
  owner.signal(SIGTERM);
  EXPECT_EQ(owner.wait().exit_code, 128 + SIGTERM);
  const uint64_t steps = record_in(run_folder()).at("steps");
  EXPECT_EQ(steps_in(run_folder()), each_step_once(steps));
  EXPECT_EQ(record_in(run_folder()).at("resumes"), 0);
}

}  // namespace
}  // namespace eggroll::test
