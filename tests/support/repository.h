// A git repository of a test's own, in which it runs the project's tools.
#ifndef EGGROLL_TESTS_SUPPORT_REPOSITORY_H
#define EGGROLL_TESTS_SUPPORT_REPOSITORY_H

#include "cli/eggroll_command.h"

namespace eggroll::test {

class RepositoryTest : public ScratchTest {
 protected:
  void git(const Arguments& words) {
    Arguments all = joined({"/usr/bin/env", "git", "-c", "user.name=Test", "-c", "user.email=test@example.org"}, words);
    good(Process(folder_, all).wait());
  }
  void commit() {
    git({"add", "--all"});
    git({"commit", "--quiet", "--message", "A state"});
  }

  Result run(const fs::path& program, const Arguments& arguments) {
    return Process(folder_, joined({program.string()}, arguments)).wait();
  }
};

}  // namespace eggroll::test

#endif
