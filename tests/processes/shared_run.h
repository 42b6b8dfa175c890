// Runs of several processes on this machine, started by mpirun.
#ifndef EGGROLL_TESTS_PROCESSES_SHARED_RUN_H
#define EGGROLL_TESTS_PROCESSES_SHARED_RUN_H

#include "cli/eggroll_command.h"

namespace eggroll::test {

class SharedRunTest : public CliTest {
 protected:
  // options: further options of mpirun.
  Arguments shared(int processes, const Arguments& arguments, const Arguments& options = {}) const {
    return joined(
        joined(joined({EGGROLL_MPIEXEC, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}, options),
               {"-n", std::to_string(processes)}),
        command(arguments));
  }
  Result run_shared(int processes, const Arguments& arguments, const Arguments& options = {}) const {
    return Process(work_, shared(processes, arguments, options)).wait();
  }
  // Runs in a folder of this name, of 0 processes without a launcher; returns the run's folder.
  fs::path run_of(int processes, const std::string& results, const Arguments& arguments) const {
    const Arguments all = joined(arguments, {"results.dir=" + results});
    good(processes == 0 ? eggroll(all) : run_shared(processes, all));
    return fs::directory_iterator(work_ / results)->path();
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

  // Begins the run, or goes on with it, and kills all of it some steps later.
  void kill_on_the_way(int processes, const Arguments& arguments) const {
    Process process(work_, shared(processes, arguments));
    const size_t before = lines_in(run_folder());
    ASSERT_TRUE(process.wait_until([&] {
      return !run_folder().empty() && fs::exists(run_folder() / "record.json") && lines_in(run_folder()) > before + 15;
    })) << process.wait().err;
    kill_all(process, processes);
  }

  static Arguments gru(const Arguments& more = {}) { return tiny_run(joined({"train.steps=100"}, more)); }
  static Arguments former(const Arguments& more = {}) {
    return tiny_run(
        joined({"train.steps=100", "model=int8nativeformer", "model.head_width=8", "optimizer=es_adamw"}, more));
  }
};

}  // namespace eggroll::test

#endif
