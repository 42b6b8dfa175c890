// Runs of several processes on this machine, started by mpirun.
#ifndef EGGROLL_TESTS_PROCESSES_SHARED_RUN_H
#define EGGROLL_TESTS_PROCESSES_SHARED_RUN_H

#include "cli/eggroll_command.h"

namespace eggroll::test {

class SharedRunTest : public CliTest {
 protected:
  // options: further options of mpirun.
  Arguments shared(int processes, const Arguments& arguments, const Arguments& options = {}) const {
    Arguments all = {EGGROLL_MPIEXEC, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"-n", std::to_string(processes)});
    const Arguments own = command(arguments);
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }

  // The job's processes on this machine, by process; -1 where one has not begun.
  static std::vector<pid_t> pids_of(const Process& mpirun, int processes) {
    std::vector<pid_t> pids(static_cast<size_t>(processes), -1);
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      try {
        const std::string status = read_file(entry.path() / "status");
        if (status.find("PPid:\t" + std::to_string(mpirun.pid()) + "\n") == std::string::npos) continue;
        const std::string variables = read_file(entry.path() / "environ");
        const std::string key = std::string(1, '\0') + "OMPI_COMM_WORLD_RANK=";
        const size_t at = variables.find(key);
        if (at != std::string::npos) pids.at(std::stoul(variables.substr(at + key.size()))) = std::stoi(name);
      } catch (const Error&) {
        // The process has ended meanwhile.
      }
    }
    return pids;
  }

  static bool runs(pid_t pid) {
    try {
      return read_file(fs::path("/proc") / std::to_string(pid) / "status").find("State:\tZ") == std::string::npos;
    } catch (const Error&) {
      return false;
    }
  }
  // Ends mpirun and its processes at once, as a failing machine does; they hold no lock afterwards.
  static void kill_all(Process& mpirun, int processes) {
    const std::vector<pid_t> pids = pids_of(mpirun, processes);
    mpirun.signal(SIGKILL);
    for (const pid_t pid : pids) {
      if (pid > 0) ::kill(pid, SIGKILL);
    }
    mpirun.wait();
    for (const pid_t pid : pids) {
      while (pid > 0 && runs(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
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
