// The shared parts of the tests of records and checkpoints: a scratch folder, error texts, a child process.
#ifndef EGGROLL_TESTS_RECORD_SCRATCH_H
#define EGGROLL_TESTS_RECORD_SCRATCH_H

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "eggroll/error.h"
#include "support/scratch_folder.h"

namespace eggroll {

// A fresh folder per test, removed at its end.
class ScratchTest : public ::testing::Test {
 protected:
  const test::ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

// The sentence that the call throws; "" where it throws nothing.
inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "";
}

// Runs the call in a forked child and returns the string it gave.
inline std::string in_child(const std::function<std::string()>& call) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = call();
    const ssize_t written = ::write(ends[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char chunk[512];
  for (ssize_t got; (got = ::read(ends[0], chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return text;
}

inline void write_plainly(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// JSON that would end a process which copies or writes it by recursion.
inline std::string deep_json() { return std::string(100'000, '[') + std::string(100'000, ']'); }

// The number of entries in the folder, hidden ones included.
inline size_t entries_in(const std::filesystem::path& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace eggroll

#endif
