// A process whose weights differ from those of the other processes is found, and named with step and tensor.
#include "processes/shared_run.h"

namespace eggroll::test {
namespace {

class ReplicaTest : public SharedRunTest {
 protected:
  Result flipped(int processes, int process, int step, const Arguments& more = {}) const {
    Arguments run = joined(gru({"backend.name=flipped", "plugins.path=[" EGGROLL_FLIPPED "]", "checkpoint.every=100",
                                "processes.checksum_every=10"}),
                           more);
    const Arguments where = {"-x", "FLIP_PROCESS=" + std::to_string(process), "-x",
                             "FLIP_STEP=" + std::to_string(step)};
    return run_shared(processes, run, where);
  }
};

TEST_F(ReplicaTest, OneWeightInOneProcessIsFoundWithinTheSteps) {
  const Result result = flipped(3, 1, 23, {"processes.update=rebuilt"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err,
              HasSubstr("after step 30 the weights of process 1 differ from those of the 2 other processes in "));
  EXPECT_EQ(record_in(run_folder()).at("status"), "failed");
}

// One process updates the tensor and sends the changes to the others.
TEST_F(ReplicaTest, AShardedUpdateDoesNotMendOrSpreadIt) {
  for (const int process : {0, 1, 2}) {
    const Result result = flipped(3, process, 23, {"processes.update=sharded"});
    EXPECT_THAT(result.err, HasSubstr("after step 30 the weights of process " + std::to_string(process) +
                                      " differ from those of the 2 other processes in embedding; "));
    fs::remove_all(work_ / "results");
  }
}

TEST_F(ReplicaTest, ProcessZeroIsNamedWhereTheOthersAgree) {
  EXPECT_THAT(flipped(3, 0, 5).err, HasSubstr("after step 10 the weights of process 0 differ"));
}

// Every process goes on from the checkpoint, so it must not hold a faulty process's weights.
TEST_F(ReplicaTest, NoCheckpointIsSavedOfWeightsThatDiffer) {
  const Result result = flipped(2, 1, 93, {"processes.checksum_every=1000"});
  EXPECT_THAT(result.err, HasSubstr("after step 100 the weights of process 1 differ"));
  EXPECT_FALSE(fs::exists(run_folder() / "checkpoints" / "step-00000100"));
}

TEST_F(ReplicaTest, NothingIsFoundWhereNothingIsFlipped) { EXPECT_EQ(flipped(3, 7, 23).exit_code, 0); }

}  // namespace
}  // namespace eggroll::test
