// A rank whose weights differ from those of the other ranks is found, and named with step and tensor.
#include "ranks/shared_run.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class ReplicaTest : public SharedRunTest {
 protected:
  Result flipped(int ranks, int rank, int step, const Arguments& more = {}) const {
    Arguments run = gru({"backend.name=flipped", "plugins.path=[" EGGROLL_FLIPPED "]", "checkpoint.every=100",
                         "ranks.checksum_every=10"});
    run.insert(run.end(), more.begin(), more.end());
    const Arguments where = {"-x", "FLIP_RANK=" + std::to_string(rank), "-x", "FLIP_STEP=" + std::to_string(step)};
    return Process(work_, shared(ranks, run, where)).wait();
  }
};

TEST_F(ReplicaTest, OneWeightInOneRankIsFoundWithinTheSteps) {
  const Result result = flipped(3, 1, 23, {"ranks.update=rebuilt"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("after step 30 the weights of rank 1 differ from those of the 2 other ranks in "));
  EXPECT_EQ(record_in(run_folder()).at("status"), "failed");
}

// One rank updates the tensor and sends the changes to the others.
TEST_F(ReplicaTest, AShardedUpdateDoesNotMendOrSpreadIt) {
  for (const int rank : {0, 1, 2}) {
    const Result result = flipped(3, rank, 23, {"ranks.update=sharded"});
    EXPECT_THAT(result.err, HasSubstr("after step 30 the weights of rank " + std::to_string(rank) +
                                      " differ from those of the 2 other ranks in embedding; "));
    fs::remove_all(work_ / "results");
  }
}

TEST_F(ReplicaTest, RankZeroIsNamedWhereTheOthersAgree) {
  EXPECT_THAT(flipped(3, 0, 5).err, HasSubstr("after step 10 the weights of rank 0 differ"));
}

// Every rank goes on from the checkpoint, so it must not hold a faulty rank's weights.
TEST_F(ReplicaTest, NoCheckpointIsSavedOfWeightsThatDiffer) {
  const Result result = flipped(2, 1, 93, {"ranks.checksum_every=1000"});
  EXPECT_THAT(result.err, HasSubstr("after step 100 the weights of rank 1 differ"));
  EXPECT_FALSE(fs::exists(run_folder() / "checkpoints" / "step-00000100"));
}

TEST_F(ReplicaTest, NothingIsFoundWhereNothingIsFlipped) { EXPECT_EQ(flipped(3, 7, 23).exit_code, 0); }

}  // namespace
}  // namespace eggroll::test
