#include "system/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "record/scratch.h"
#include "support/patience.h"

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

  // The answer of a shell's command to the line "a".
  Conversation talk_of(const std::string& command, const ConversationLimits& limits = {300, 1000, 1000}) {
    return converse({"sh", "-c", command}, input(), limits);
  }

  Descriptor input() {
    write_plainly(folder_ / "input", "a\n");
    return Descriptor(::open((folder_ / "input").c_str(), O_RDONLY | O_CLOEXEC));
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

TEST_F(ProcessTest, AConversationHasBothStreamsAndTheStatus) {
  const Conversation talk = talk_of("cat; echo b >&2; exit 3");
  EXPECT_EQ(talk.output, "a\n");
  EXPECT_EQ(talk.errors, "b\n");
  EXPECT_EQ(WEXITSTATUS(talk.status), 3);
  EXPECT_FALSE(talk.out_of_time || talk.too_long || talk.stopped);
  EXPECT_EQ(talk_of("exit 0").output, "");  // the command need not read its input
  EXPECT_EQ(talk_of("exec >&- 2>&-; sleep 0.1; exit 4").status, 4 << 8);
}

TEST_F(ProcessTest, AConversationEndsAtItsLimits) {
  EXPECT_TRUE(talk_of("sleep 300", {0.1, 100, 100}).out_of_time);
  const Conversation chatter = talk_of("yes", {300, 100, 100});
  EXPECT_TRUE(chatter.too_long);
  EXPECT_EQ(chatter.output.size(), 100U);
  const Conversation complaints = talk_of("head -c 100000 /dev/zero >&2; printf end >&2", {300, 100, 5});
  EXPECT_EQ(complaints.errors, std::string("\0\0end", 5));
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(talk_of("sleep 300", {300, 100, 100, &stop}).stopped);
}

TEST_F(ProcessTest, WhatAConversationLeavesBehindIsKilled) {
  // A process that was killed may stay a zombie until its new parent waits for it.
  const auto has_ended = [](const std::string& pid) {
    const std::string status = "/proc/" + pid + "/status";
    return message_of([&] { read_file(status); }) != "" || read_file(status).find("State:\tZ") != std::string::npos;
  };
  const auto expect_end = [&](const std::string& output) {
    const std::string pid = output.substr(0, output.find('\n'));
    ASSERT_FALSE(pid.empty());
    EXPECT_TRUE(wait_patiently([&] { return has_ended(pid); })) << pid;
  };
  expect_end(talk_of("sleep 3000 & echo $!").output);
  // On a busy machine the shell begins later.
  for (const double seconds : {0.1, 1.0, 10.0, 100.0}) {
    const Conversation talk = talk_of("sleep 3000 & echo $!; sleep 3000", {seconds, 100, 100});
    EXPECT_TRUE(talk.out_of_time);
    if (talk.output.empty() && seconds < 100.0) continue;
    expect_end(talk.output);
    break;
  }
}

TEST_F(ProcessTest, AConversationWithNobody) {
  EXPECT_EQ(converse({"/nowhere/program"}, input(), {300, 100, 100}).failure, ENOENT);
  EXPECT_EQ(converse({folder_.string()}, input(), {300, 100, 100}).failure, EACCES);
}

// A program's own processes end with this one, however it ends.
TEST_F(ProcessTest, WhatAProgramHasStartedDiesWithTheProcessThatTalksToIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);  // inherited by all of them, and closed by their end
  const Descriptor output(ends[0]);
  const Descriptor said = input();
  const pid_t talker = ::fork();
  if (talker == 0) {
    ::close(ends[0]);
    converse({"sh", "-c", "sleep 600 & echo started >&" + std::to_string(ends[1]) + "; wait"}, said, {600, 10, 10});
    ::_exit(0);
  }
  ::close(ends[1]);
  std::array<char, 8> word{};
  ASSERT_EQ(::read(output.get(), word.data(), word.size()), 8);
  ::kill(talker, SIGKILL);
  EXPECT_EQ(WTERMSIG(wait_for(talker)), SIGKILL);
  EXPECT_EQ(read_to_end(output), "");  // not before all have ended
}

}  // namespace
}  // namespace eggroll::test
