#include "experiment/workers.h"

#include <gmock/gmock.h>

#include "eggroll/error.h"
#include "record/scratch.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

TEST(Workers, HaveCoresAndGpus) {
  const std::vector<Worker> workers = parse_workers("gpu=0 cores=0; gpu=1,2 ;");
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers[0].cores, std::vector<int>{0});
  EXPECT_EQ(workers[0].gpus, "0");
  EXPECT_EQ(workers[0].name, "gpu=0 cores=0");
  EXPECT_TRUE(workers[1].cores.empty());
  EXPECT_EQ(workers[1].gpus, "1,2");
  EXPECT_EQ(parse_workers("gpu=2-4").at(0).gpus, "2,3,4");
}

TEST(Workers, OneOfAllCoresIsNotPinned) {
  EXPECT_TRUE(even_workers(1).at(0).cores.empty());
  EXPECT_THAT(message_of([] { even_workers(4096); }), HasSubstr("--jobs is 4096, expected at most the"));
}

TEST(Workers, RefusesWhatIsNone) {
  const auto message = [](const std::string& text) { return message_of([&] { parse_workers(text); }); };
  EXPECT_THAT(message(""), HasSubstr("the worker '' is empty, expected cores=0-3"));
  EXPECT_THAT(message("core=1"), HasSubstr("the worker 'core=1' has the word 'core=1'"));
  EXPECT_THAT(message("cores=0;gpu"), HasSubstr("the worker 'gpu' has the word 'gpu'"));
  EXPECT_THAT(message("gpu=x"), HasSubstr("has 'x' in place of a number"));
  EXPECT_THAT(message("gpu=3-1"), HasSubstr("has the range '3-1'"));
  EXPECT_THAT(message("gpu="), HasSubstr("names no number"));
  EXPECT_THAT(message("cores=4095"), HasSubstr("names core 4095, which this process may not use"));
}

}  // namespace
}  // namespace eggroll::test
