// A run that cannot be shared is refused with a sentence, and the job ends.
#include "processes/shared_run.h"

namespace eggroll::test {
namespace {

class RefusalTest : public SharedRunTest {};

TEST_F(RefusalTest, MoreProcessesThanPairs) {
  const Result result = run_shared(3, tiny_run({"train.population=4", "train.members_per_stream=2"}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("3 processes share 4 members, expected at most a process for each pair"));
}

TEST_F(RefusalTest, ALauncherWithoutAPlugin) {
  const Result result = run_shared(2, tiny_run({"processes.name=alone"}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("2 processes were started for this run and processes.name is alone"));
}

TEST_F(RefusalTest, ASweepByALauncher) {
  for (const Arguments& arguments : {Arguments{"sweep", "experiment=rank"}, tiny_run({"-m", "seed=1,2"})}) {
    const Result result = run_shared(2, arguments);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("starts processes of its own, and 2 were started for it"));
  }
}

TEST_F(RefusalTest, MpiWithoutALauncher) {
  refuses(tiny_run({"processes.name=mpi"}),
          {"processes 'mpi' cannot run here: this process was not started by mpirun"});
}

TEST_F(RefusalTest, AFinishedRunIsShownOnce) {
  ASSERT_EQ(run_shared(2, tiny_run()).exit_code, 0);
  const Result again = good(run_shared(2, tiny_run()));
  EXPECT_EQ(again.out.find("this run is finished already"), again.out.rfind("this run is finished already"));
  EXPECT_THAT(again.out, HasSubstr("this run is finished already"));
}

}  // namespace
}  // namespace eggroll::test
