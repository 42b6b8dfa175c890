// A git repository of a test's own, in which it runs the project's tools.
#ifndef EGGROLL_TESTS_SUPPORT_REPOSITORY_H
#define EGGROLL_TESTS_SUPPORT_REPOSITORY_H

#include "cli/eggroll_command.h"

namespace eggroll::test {

class RepositoryTest : public ScratchTest {
 protected:
  void git(const Arguments& words) {
    Arguments all = {"/usr/bin/env", "git", "-c", "user.name=Test", "-c", "user.email=test@example.org"};
    all.insert(all.end(), words.begin(), words.end());
    const Result result = Process(folder_, all).wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  void commit() {
    git({"add", "--all"});
    git({"commit", "--quiet", "--message", "A state"});
  }

  Result run(const fs::path& program, const Arguments& arguments) {
    Arguments all = {program.string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return Process(folder_, all).wait();
  }
};

}  // namespace eggroll::test

#endif
