// Sweeps on a cluster that the test starts on this machine, and sweeps that refuse.
#include "experiment/slurm_cluster.h"
#include "experiment/sweep_command.h"

namespace eggroll::test {
namespace {

// A record without its times and without the number of its restarts.
nlohmann::json without_history(nlohmann::json record) {
  for (const char* key : {"started_utc", "ended_utc", "wall_seconds", "resumes", "sha256"}) record.erase(key);
  nlohmann::json& summary = record.at("summary");
  for (const char* key : {"step_seconds", "steps_total_seconds", "forward_share", "tokens_per_second"}) {
    summary.erase(key);
  }
  for (const char* curve : {"held_out", "training"}) summary.at(curve).erase("seconds");
  for (const char* key : {"step_seconds", "forward_seconds"}) summary.at("late").erase(key);
  return record;
}

class SlurmSweepTest : public SweepCommandTest {
 protected:
  void SetUp() override {
    const std::string reason = Cluster::reason_against();
    if (!reason.empty()) GTEST_SKIP() << "launcher=slurm cannot run here: " << reason;
    cluster_.emplace(folder_ / "slurm");
  }
  // The cluster ends before the folder is removed, because its daemons write into the folder.
  void TearDown() override { cluster_.reset(); }

  Arguments slurm_command(const std::string& name, const Arguments& more = {}) const {
    return with_own(joined({"sweep", "experiment=" + name, "launcher=slurm", "launcher.poll_seconds=0.2"}, more));
  }
  Result slurm_sweep(const std::string& name, const Arguments& more = {}) const {
    return Process(work_, slurm_command(name, more)).wait();
  }

  // The number of steps of a point that has begun, else 0.
  size_t steps_of(const std::string& name, const std::string& index) const {
    if (!fs::exists(points(name))) return 0;
    for (const auto& entry : fs::directory_iterator(points(name))) {
      if (entry.path().filename().string().starts_with(index)) return steps_in(entry.path()).size();
    }
    return 0;
  }
  std::string log_of(const std::string& name, const std::string& text) const {
    return read_file(point(name, text) / "log.txt");
  }

  void expect_each_done_once(const std::string& name, size_t count) const {
    EXPECT_EQ(finished_records(name).size(), count);
    for (const auto& entry : fs::directory_iterator(points(name))) {
      EXPECT_EQ(count_of(read_file(entry.path() / "log.txt"), "weights sha256"), 1U) << entry.path();
      EXPECT_EQ(steps_in(entry.path()), each_step_once(record_in(entry.path()).at("steps"))) << entry.path();
    }
  }

  std::optional<Cluster> cluster_;
};

TEST_F(SlurmSweepTest, PreemptedPointsGoOnAndRecordsAreThoseOfTheLocalLauncher) {
  // Two long points run first; 22 short ones follow.
  write_experiment("grid",
                   "  question: How wide?\n"
                   "  union:\n"
                   "    - points: [[train.steps=800, train.population=64], [train.steps=801, train.population=64]]\n"
                   "    - product: [\"model.width=8,16\", \"train.tokens=range(5,16)\"]\n");
  Process launch(work_, slurm_command("grid"));
  ASSERT_TRUE(launch.wait_until([&] { return steps_of("grid", "0000-") > 20 && steps_of("grid", "0001-") > 20; }))
      << launch.out();
  Cluster::preempt();
  const Result result = good(launch.wait());
  EXPECT_THAT(result.out, HasSubstr("24 points in results/sweeps/grid\nsubmitted 20 points as job "));
  EXPECT_THAT(result.out, HasSubstr("submitted 4 points as job "));  // an array may have 20 elements here
  EXPECT_THAT(result.out, HasSubstr("24 of 24 points done, 0 failed, 0 left\n"));
  expect_each_done_once("grid", 24);
  for (const std::string index : {"0000-", "0001-"}) {
    EXPECT_EQ(count_of(log_of("grid", index), "interrupted after "), 1U) << log_of("grid", index);
    EXPECT_EQ(count_of(log_of("grid", index), "Z slurm 1_"), 2U);
    EXPECT_EQ(record_in(point("grid", index)).at("resumes"), 1);
    EXPECT_THAT(result.out, HasSubstr("begun    " + point("grid", index).filename().string() + " from step "));
  }

  // Runs the same command here, in a folder of its own.
  const fs::path elsewhere = folder_ / "local";
  fs::create_directory(elsewhere);
  good(Process(elsewhere, with_own({"sweep", "experiment=grid", "--jobs", "2"})).wait());
  const fs::path other = elsewhere / "results" / "sweeps" / "grid";
  EXPECT_EQ(read_file(other / "points.jsonl"), read_file(work_ / "results" / "sweeps" / "grid" / "points.jsonl"));
  for (const auto& entry : fs::directory_iterator(points("grid"))) {
    EXPECT_EQ(without_history(record_in(entry.path())),
              without_history(record_in(other / "points" / entry.path().filename())));
  }
}

// Each round of a search is a submission of its own.
TEST_F(SlurmSweepTest, ASearchEndsWithTheTableOfTheLocalLauncher) {
  write_experiment(
      "hunt",
      "  seeds: [100]\n"
      "  search: {params: [\"model.width=8,16\", \"noise.sigma_shift=int(interval(0, 4))\"], sampler: tpe, "
      "trials: 6, startup: 4, halving: {from: 5, by: 3}, confirm: 2}\n");
  const Result here = good(sweep("hunt", {"results.sweeps=here"}));
  const Result there = good(slurm_sweep("hunt"));
  EXPECT_EQ(read_file(work_ / "results/sweeps/hunt/search.jsonl"), read_file(work_ / "here/hunt/search.jsonl"));
  EXPECT_EQ(weights("hunt"), weights("hunt", "here"));
  EXPECT_THAT(there.out, HasSubstr("on 2 fresh seeds: found "));
}

TEST_F(SlurmSweepTest, CtrlCAndALostLaunchLoseNothing) {
  write_experiment("stops", "  seeds: 6\n  points: [[train.steps=600]]\n");
  {
    Process launch(work_, slurm_command("stops"));
    ASSERT_TRUE(launch.wait_until([&] { return steps_of("stops", "0000-") > 20 && steps_of("stops", "0001-") > 20; }))
        << launch.out();
    launch.signal(SIGINT);
    ASSERT_TRUE(launch.wait_until([] { return count_of(Cluster::queue(), "PENDING") == 0; }));
    launch.signal(SIGINT);
    const Result stopped = launch.wait();
    EXPECT_EQ(stopped.exit_code, 128 + SIGINT);
    EXPECT_THAT(stopped.out, HasSubstr("0 of 6 points done, 0 failed, 6 left\nstopped; the same command goes on"));
    EXPECT_THAT(stopped.out, HasSubstr("saved    " + point("stops", "0000-").filename().string()));
  }
  EXPECT_EQ(Cluster::queue(), "");
  for (const std::string index : {"0000-", "0001-"}) {
    EXPECT_EQ(record_in(point("stops", index)).at("status"), "interrupted");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(points("stops")), fs::directory_iterator()), 2);

  // A launch that is killed leaves its elements; the next one takes them over and submits none again.
  {
    Process launch(work_, slurm_command("stops"));
    ASSERT_TRUE(launch.wait_until([] { return count_of(Cluster::queue(), "RUNNING") == 2; })) << launch.out();
    launch.signal(SIGKILL);
    launch.wait();
  }
  const Result last = good(slurm_sweep("stops"));
  EXPECT_THAT(last.out, Not(HasSubstr("submitted")));
  EXPECT_THAT(last.out, HasSubstr("6 of 6 points done, 0 failed, 0 left"));
  expect_each_done_once("stops", 6);

  // Finished points are left alone, and only the points of an added value run.
  const auto before = finished_records("stops");
  EXPECT_THAT(slurm_sweep("stops").out, Not(HasSubstr("submitted")));
  write_experiment("stops", "  seeds: 7\n  points: [[train.steps=600]]\n");
  EXPECT_THAT(slurm_sweep("stops").out, HasSubstr("submitted 1 points as job "));
  const auto after = finished_records("stops");
  EXPECT_EQ(after.size(), 7U);
  for (const auto& [folder, bytes] : before) EXPECT_EQ(after.at(folder), bytes);
}

TEST_F(SlurmSweepTest, WhatTheClusterEndsIsSubmittedAgainAndWhatTwoLaunchesShareRunsOnce) {
  write_experiment("ends", "  seeds: 4\n  points: [[train.steps=1000]]\n");
  // The point that is submitted again waits for the others, because together they would be more than at_once.
  Process launch(work_, slurm_command("ends", {"launcher.at_once=2"}));
  ASSERT_TRUE(launch.wait_until([&] { return steps_of("ends", "0000-") > 20; })) << launch.out();
  const Result second = slurm_sweep("ends");
  EXPECT_EQ(second.exit_code, 3) << second.err;
  EXPECT_THAT(second.out, HasSubstr("4 of them run in other processes; run the sweep again"));
  EXPECT_THAT(second.out, Not(HasSubstr("submitted")));
  const std::string queue = Cluster::queue();
  const size_t at = queue.find("_0 RUNNING");
  ASSERT_NE(at, std::string::npos) << queue;
  const std::string element = queue.substr(queue.rfind('\n', at) + 1, at + 2 - (queue.rfind('\n', at) + 1));
  EXPECT_EQ(run_tool({"scancel", element}).exit_code, 0);
  const Result result = good(launch.wait());
  EXPECT_THAT(result.out, HasSubstr("submitted 4 points as job "));
  EXPECT_THAT(result.out, HasSubstr("submitted 1 points as job "));
  EXPECT_EQ(record_in(point("ends", "0000-")).at("resumes"), 1);
  expect_each_done_once("ends", 4);
}

TEST_F(SlurmSweepTest, FailuresAreJudgedAsTheyAreHere) {
  write_experiment("unruly",
                   "  product: [{union: [{points: [optimizer=sign_es]}, {product: [optimizer=unruly, "
                   "\"optimizer.does=segfault,hang,nothing\"]}]}]\n  limits: {seconds: 60}\n");
  const Result result = slurm_sweep("unruly", {"launcher.at_once=1"});
  expect_one_sentence(result, {"2 of 4 points failed (0001, 0002)", "--retry-failed"});
  EXPECT_EQ(record_in(point("unruly", "does=segfault")).at("failure").at("detail"), "SIGSEGV");
  EXPECT_EQ(record_in(point("unruly", "does=hang")).at("failure").at("kind"), "time");
  const std::string log = log_of("unruly", "does=segfault");
  expect_one_sentence(slurm_sweep("unruly"), {"2 of 4 points failed (0001, 0002)"});
  EXPECT_EQ(log_of("unruly", "does=segfault"), log);
  // Slurm may begin the next one before the failure is seen.
  const Result again = slurm_sweep("unruly", {"--retry-failed", "--fail-fast", "launcher.at_once=1"});
  expect_one_sentence(again, {"a point failed: ", "of 4 points failed (0001"});
  EXPECT_EQ(count_of(log_of("unruly", "does=segfault"), "\n== "), 1U);
  EXPECT_EQ(Cluster::queue(), "");
}

TEST_F(SlurmSweepTest, TheBudgetSavesWhatRuns) {
  write_experiment("spent", "  product: [\"train.population=32,64,128\"]\n  budget: {steps: 45}\n");
  const Result result = slurm_sweep("spent", {"train.steps=100000"});
  expect_one_sentence(result, {"sweep.budget is spent (45 steps) with 0 of 3 points done", "to go on"});
  EXPECT_EQ(record_in(point("spent", "0000-")).at("status"), "interrupted");
  EXPECT_EQ(Cluster::queue(), "");
}

TEST_F(SlurmSweepTest, JobsThatNeverGetOnAreGivenUp) {
  write_experiment("lost", "  points: [[model.width=16]]\n");
  const Result result = slurm_sweep("lost", {"launcher.options=['--output=/nonexistent/%a.out']"});
  expect_one_sentence(result, {"1 of 1 points failed (0000)"});
  EXPECT_EQ(count_of(result.out, "submitted 1 points"), 3U);
  const nlohmann::json record = record_in(point("lost", "0000-"));
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_THAT(record.at("error").get<std::string>(), HasSubstr("3 jobs in a row ended without making a step"));
}

TEST_F(SlurmSweepTest, SbatchHasItsOwnWords) {
  write_experiment("refused", "  points: [[model.width=16]]\n");
  expect_one_sentence(slurm_sweep("refused", {"launcher.partition=nope"}),
                      {"sbatch failed with exit code 1: ", "invalid partition specified: nope", "correct the section"});
  expect_one_sentence(slurm_sweep("refused", {"launcher.memory=900000G"}),
                      {"sbatch failed with exit code 1: ", "Memory specification can not be satisfied"});
  EXPECT_FALSE(fs::exists(points("refused") / "0000"));
}

// These tests need no cluster.
class NoClusterTest : public SweepCommandTest {
 protected:
  NoClusterTest() { write_experiment("none", "  points: [[model.width=16]]\n"); }
};

TEST_F(NoClusterTest, WhereThereIsNoSlurmItIsSaid) {
  const char* const found = std::getenv("PATH");
  const std::string path = found != nullptr ? found : "";
  ::setenv("PATH", "/nonexistent", 1);
  const Result result = sweep("none", {"launcher=slurm"});
  ::setenv("PATH", path.c_str(), 1);
  expect_one_sentence(result, {"cannot start scontrol: No such file or directory, expected Slurm's commands",
                               "or with launcher=local"});
}

TEST_F(NoClusterTest, WhatIsNotForALauncherIsRefused) {
  expect_one_sentence(sweep("none", {"launcher=slurm", "--jobs", "2"}),
                      {"--jobs and --workers are for points on this machine"});
  expect_one_sentence(sweep("none", {"launcher=slurm", "--workers", "cores=0"}),
                      {"--jobs and --workers are for points"});
  expect_one_sentence(sweep("none", {"launcher=slrum"}), {"launcher has no option 'slrum'", "did you mean 'slurm'"});
  expect_one_sentence(sweep("none", {"launcher=slurm", "launcher.cpus=-1"}), {"launcher.cpus is the integer -1"});
  expect_one_sentence(list_points("none", {"launcher=slurm", "launcher.cpus=-1"}), {"launcher.cpus is the integer -1"});
  expect_one_sentence(sweep("none", {"launcher.time=3"}), {"launcher", "has no key 'time'"});
  refuses(tiny_run({"launcher=slurm"}), {"'launcher=slurm' is for eggroll sweep"});
  refuses({"point", "results", "0"}, {"results holds no elements.jsonl"});
  write_experiment("axis", "  product: [\"launcher=local,slurm\"]\n");
  expect_one_sentence(sweep("axis"), {"launcher is no axis"});
}

// Only the nodes can run this backend; `points` checks all else.
TEST_F(NoClusterTest, APlanForAClusterAsksForNothingThatOnlyItsNodesHave) {
  scratch_.put("configs/backend/cannot_run.yaml", "name: cannot_run\nthreads: 0\n");
  const Arguments on_nodes = {"backend=cannot_run", "plugins.path=[" EGGROLL_CANNOT_RUN "]"};
  const auto with = [&](const Arguments& more) { return joined(on_nodes, more); };
  EXPECT_THAT(list_points("none", on_nodes).err, HasSubstr("backend 'cannot_run' cannot run here"));
  const Result result = good(list_points("none", with({"launcher=slurm"})));
  EXPECT_THAT(result.out, HasSubstr("1 points in results/sweeps/none: 0 done, 1 left"));
  EXPECT_THAT(result.out, Not(HasSubstr("of memory on")));
  expect_one_sentence(list_points("none", with({"launcher=slurm", "train.members_per_stream=3"})),
                      {"members_per_stream is 3, expected an even number"});
  expect_one_sentence(list_points("none", {"launcher=slurm", "++backend.name=nowhere"}), {"unknown backend 'nowhere'"});
}

}  // namespace
}  // namespace eggroll::test
