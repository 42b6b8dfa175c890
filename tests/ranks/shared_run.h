// Runs of several processes on this machine, started by mpirun.
#ifndef EGGROLL_TESTS_RANKS_SHARED_RUN_H
#define EGGROLL_TESTS_RANKS_SHARED_RUN_H

#include "cli/eggroll_command.h"

namespace eggroll::test {

class SharedRunTest : public CliTest {
 protected:
  // environment: "NAME=value".
  Arguments shared(int ranks, const Arguments& arguments, const std::vector<std::string>& environment = {}) const {
    Arguments all = {EGGROLL_MPIEXEC,      "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n",
                     std::to_string(ranks)};
    for (const std::string& variable : environment) {
      all.push_back("-x");
      all.push_back(variable);
    }
    const Arguments own = command(arguments);
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }

  static Arguments gru(const Arguments& more = {}) {
    Arguments all = {"train.steps=100"};
    all.insert(all.end(), more.begin(), more.end());
    return tiny_run(all);
  }
  static Arguments former(const Arguments& more = {}) {
    Arguments all = {"train.steps=100", "model=int8nativeformer", "model.head_width=8", "optimizer=es_adamw"};
    all.insert(all.end(), more.begin(), more.end());
    return tiny_run(all);
  }
};

}  // namespace eggroll::test

#endif
