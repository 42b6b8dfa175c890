#include "system/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "record/scratch.h"

namespace eggroll::test {
namespace {

class ProcessTest : public ScratchTest {
 protected:
  // The output of a shell's command, on both streams.
  std::string output_of(const std::string& command, bool has_own_group = false) {
    Pipe pipe = open_pipe();
    pid_t child = 0;
    EXPECT_EQ(spawn({"sh", "-c", command}, {false, &*pipe.input, &*pipe.input, has_own_group}, child), 0);
    pipe.input.reset();
    std::string text = read_to_end(pipe.output);
    status_ = wait_for(child);
    return text;
  }

  int status_ = 0;
};

TEST_F(ProcessTest, BothStreamsAreReadToTheirEnd) {
  EXPECT_EQ(output_of("echo a; echo b >&2; exit 3"), "a\nb\n");
  EXPECT_EQ(WEXITSTATUS(status_), 3);
  EXPECT_EQ(output_of("head -c 200000 /dev/zero").size(), 200000U);
}

TEST_F(ProcessTest, ASignalIsInTheStatus) {
  output_of("kill -KILL $$");
  EXPECT_TRUE(WIFSIGNALED(status_));
  EXPECT_EQ(WTERMSIG(status_), SIGKILL);
}

TEST_F(ProcessTest, WithoutInputThereIsNothingToRead) { EXPECT_EQ(output_of("cat; echo end"), "end\n"); }

TEST_F(ProcessTest, AGroupOfItsOwn) {
  const std::string print_group = "ps -o pgid= -p $$ | tr -d ' \\n'";
  EXPECT_EQ(output_of(print_group), std::to_string(::getpgrp()));
  EXPECT_NE(output_of(print_group, true), std::to_string(::getpgrp()));
}

TEST_F(ProcessTest, AStreamOfItsOwnForEach) {
  const std::string path = (folder_ / "output").string();
  {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    Pipe pipe = open_pipe();
    pid_t child = 0;
    ASSERT_EQ(spawn({"sh", "-c", "echo a; echo b >&2"}, {false, &file, &*pipe.input, false}, child), 0);
    pipe.input.reset();
    EXPECT_EQ(read_to_end(pipe.output), "b\n");
    EXPECT_EQ(wait_for(child), 0);
  }
  EXPECT_EQ(read_file(path), "a\n");
}

TEST_F(ProcessTest, AProgramThatIsNotThereGivesTheSystemsError) {
  pid_t child = 0;
  EXPECT_EQ(spawn({"no-such-program-here"}, {}, child), ENOENT);
}

}  // namespace
}  // namespace eggroll::test
