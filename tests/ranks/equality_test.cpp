// However many ranks share a run, and however many go on with it, the weights are those of one process.
#include "ranks/shared_run.h"
#include "train/journal.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class EqualityTest : public SharedRunTest {
 protected:
  // The digest of the run by so many ranks, whose record is checked too.
  std::string digest_of(int ranks, Arguments arguments) const {
    arguments.push_back("results.dir=shared");
    const Result result = Process(work_, shared(ranks, arguments)).wait();
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    const fs::path run = fs::directory_iterator(work_ / "shared")->path();
    const nlohmann::json record = record_in(run);
    EXPECT_EQ(record.at("ranks").at("count"), ranks);
    expect_completed(run, record.at("weights_sha256"));
    fs::remove_all(work_ / "shared");
    return record.at("weights_sha256");
  }
};

TEST_F(EqualityTest, WeightsOfTheGruDoNotDependOnTheRanks) {
  const std::string digest = undisturbed(gru());
  for (const int ranks : {1, 2, 3, 5}) EXPECT_EQ(digest_of(ranks, gru()), digest) << ranks;
}

TEST_F(EqualityTest, WeightsOfTheTransformerDoNotDependOnTheRanks) {
  const std::string digest = undisturbed(former());
  for (const int ranks : {1, 2, 3, 5}) EXPECT_EQ(digest_of(ranks, former()), digest) << ranks;
}

// Signs travel packed; a whole population reads one stream, which the ranks then share.
TEST_F(EqualityTest, SignsAndOneStreamForAll) {
  const Arguments run = gru({"fitness=sign", "train.group=32"});
  const std::string digest = undisturbed(run);
  for (const int ranks : {2, 5}) EXPECT_EQ(digest_of(ranks, run), digest) << ranks;
}

// What the figures of a run are made of is shared out too.
TEST_F(EqualityTest, FiguresAndJournalAreThoseOfOneProcess) {
  ASSERT_EQ(eggroll(gru({"results.dir=one"})).exit_code, 0);
  ASSERT_EQ(Process(work_, shared(3, gru({"results.dir=three"}))).wait().exit_code, 0);
  const fs::path one = fs::directory_iterator(work_ / "one")->path();
  const fs::path three = fs::directory_iterator(work_ / "three")->path();
  EXPECT_EQ(read_file(one / "journal.bin"), read_file(three / "journal.bin"));
  const nlohmann::json alone = record_in(one);
  const nlohmann::json shared = record_in(three);
  for (const char* key : {"best", "final", "member_tokens", "unique_tokens", "config_hash", "baselines"}) {
    EXPECT_EQ(alone.at(key), shared.at(key)) << key;
  }
}

TEST_F(EqualityTest, AStoppedRunGoesOnWithOtherRanks) {
  const std::string digest = undisturbed(gru());
  for (const int ranks : {3, 1, 5}) {
    Process process(work_, shared(ranks, gru()));
    const size_t before = lines_in(run_folder());
    ASSERT_TRUE(process.wait_until([&] {
      return !run_folder().empty() && fs::exists(run_folder() / "record.json") && lines_in(run_folder()) > before + 15;
    })) << process.wait().err;
    process.signal(SIGKILL);
    process.wait();
  }
  EXPECT_EQ(Process(work_, shared(2, gru())).wait().exit_code, 0);
  expect_completed(run_folder(), digest);
}

// A scheduler may tell one of them alone.
TEST_F(EqualityTest, ASignalToOneRankSavesAndEndsAll) {
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

TEST_F(EqualityTest, AStepSendsAtMostSixteenTenthsOfABitAPair) {
  const Arguments run = tiny_run({"train.population=65536", "train.steps=1", "fitness=sign", "model.width=8"});
  ASSERT_EQ(Process(work_, shared(2, run)).wait().exit_code, 0);
  const nlohmann::json record = record_in(run_folder());
  constexpr uint64_t kHeader = 48;
  EXPECT_EQ(record.at("ranks").at("bytes_per_step"), kHeader + (65536 / 2 / 2 + 4) / 5);
}

}  // namespace
}  // namespace eggroll::test
