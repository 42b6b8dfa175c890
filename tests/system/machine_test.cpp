#include "system/machine.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "record/scratch.h"

namespace eggroll::test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(MachineTest, KnowsItsExecutable) {
  EXPECT_TRUE(executable_path().is_absolute());
  EXPECT_EQ(executable_path().filename(), "system_test");
  EXPECT_TRUE(std::filesystem::equivalent(executable_path(), executable_to_start()));
}

TEST(MachineTest, KnowsItsProcessor) {
  const Cpu cpu = this_cpu();
  EXPECT_NE(cpu.model, "");
  const std::vector<int> cores = usable_cores();
  EXPECT_THAT(cores, Not(IsEmpty()));
  EXPECT_TRUE(std::is_sorted(cores.begin(), cores.end()));
  EXPECT_GE(cpu.cores, cores.size());
}

TEST(MachineTest, PinsAProcessToCores) {
  ASSERT_TRUE(can_pin_cores());
  const int last = usable_cores().back();
  const std::string text = in_child([&] {
    pin_to({last});
    const std::vector<int> cores = usable_cores();
    return cores.size() == 1 ? std::to_string(cores[0]) : "many";
  });
  EXPECT_EQ(text, std::to_string(last));
}

TEST(MachineTest, NamesSignals) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(SIGXFSZ), "SIGXFSZ");
  EXPECT_EQ(signal_name(0), "signal 0");
  EXPECT_EQ(signal_name(250), "signal 250");
}

TEST(MachineTest, PassesItsVariablesOn) {
  ASSERT_EQ(::setenv("EGGROLL_SYSTEM_TEST", "a=b", 1), 0);
  EXPECT_THAT(environment_of_child(), Contains("EGGROLL_SYSTEM_TEST=a=b"));
  bool found = false;
  for (char** variable = environment(); *variable != nullptr; ++variable) {
    found = found || std::string(*variable) == "EGGROLL_SYSTEM_TEST=a=b";
  }
  EXPECT_TRUE(found);
  ASSERT_EQ(::unsetenv("EGGROLL_SYSTEM_TEST"), 0);
  EXPECT_THAT(environment_of_child(), Not(Contains(StartsWith("EGGROLL_SYSTEM_TEST"))));
}

TEST(MachineTest, MeasuresMemory) {
  forget_peak_memory();
  const uint64_t before = memory_of(::getpid());
  EXPECT_GT(before, 0U);
  EXPECT_GE(peak_memory() + kMiB, before);
  // Memory from the system itself is gone at once when it is freed.
  void* much = ::mmap(nullptr, 64 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(much, MAP_FAILED);
  std::memset(much, 1, 64 * kMiB);
  EXPECT_GE(memory_of(::getpid()) + kMiB, before + 64 * kMiB);
  ASSERT_EQ(::munmap(much, 64 * kMiB), 0);
  EXPECT_GE(peak_memory() + kMiB, before + 64 * kMiB);
  forget_peak_memory();
  EXPECT_LT(peak_memory(), before + 32 * kMiB);
}

TEST(MachineTest, OfAProcessThatIsNotThereIsNoMemory) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(memory_of(child), 0U);
}

// A child that dies with its parent: the parent ends at once, and nobody holds the pipe any more.
TEST(MachineTest, AChildDiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t self = ::getpid();
    int ready[2];
    if (::pipe(ready) != 0) ::_exit(1);
    if (::fork() == 0) {
      kill_with_parent(self);
      watch_parent();
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    char byte = 0;
    ::_exit(::read(ready[0], &byte, 1) == 1 ? 0 : 1);
  }
  ::close(ends[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_EQ(status, 0);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // returns once the last process that could write has ended
  ::close(ends[0]);
}

}  // namespace
}  // namespace eggroll::test
