// A Slurm cluster of one node with two processors, on this machine, for as long as the object lives: munge, slurmctld
// and slurmd of the distribution, in a folder and on ports of their own.
#ifndef EGGROLL_TESTS_EXPERIMENT_SLURM_CLUSTER_H
#define EGGROLL_TESTS_EXPERIMENT_SLURM_CLUSTER_H

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "experiment/slurm.h"
#include "record/scratch.h"
#include "support/patience.h"
#include "support/words.h"
#include "system/machine.h"

namespace eggroll::test {

class Cluster {
 public:
  // The reason why no cluster can be started here, or "".
  static std::string reason_against() {
    if (::geteuid() != 0) return "Slurm's daemons are started by root alone";
    for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel"}) {
      if (run_tool({"sh", "-c", std::string("command -v ") + program}).exit_code != 0) {
        return std::string(program) + " is not here (packages munge, slurmctld, slurmd, slurm-client)";
      }
    }
    return "";
  }

  // Throws Error if the cluster does not start. Sets SLURM_CONF for this process and its children. The
  // default partition is `low`; its jobs are requeued if jobs of the partition `high` need the node.
  explicit Cluster(const std::filesystem::path& folder) : folder_(folder) {
    std::filesystem::create_directories(folder_ / "state");
    std::filesystem::create_directories(folder_ / "spool");
    write_plainly(folder_ / "key", std::string(1024, 'k'));
    std::filesystem::permissions(folder_ / "key", std::filesystem::perms::owner_read);
    write_plainly(folder_ / "slurm.conf", configuration());
    ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
    const std::string at = folder_.string();
    try {
      start({"munged", "--foreground", "--force", "--key-file=" + at + "/key", "--socket=" + at + "/socket",
             "--pid-file=" + at + "/munged.pid", "--seed-file=" + at + "/seed", "--log-file=" + at + "/munged.log"});
      wait_for("munged", [&] { return std::filesystem::exists(folder_ / "socket"); });
      start({"slurmctld", "-D", "-c"});
      start({"slurmd", "-D"});
      wait_for("Slurm", [] { return run_tool({"sinfo", "-h", "-o", "%t"}).output.starts_with("idle"); });
    } catch (...) {
      stop();
      throw;
    }
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() {
    run_tool({"scancel", "--me"});
    // Cancels the jobs first, because their processes belong to slurmd.
    for (int i = 0; i < 100 && !run_tool({"squeue", "--noheader"}).output.empty(); ++i) nap();
    stop();
    ::unsetenv("SLURM_CONF");
  }

  // A job that takes the whole node, and so preempts the jobs of `low`, for a moment.
  static void preempt() { submit({"--partition=high", "--cpus-per-task=2", "--wrap=true"}); }
  static void submit(const std::vector<std::string>& options) {
    std::vector<std::string> words = joined({"sbatch", "--output=/dev/null"}, options);
    const ToolResult result = run_tool(words);
    if (result.exit_code != 0) throw Error("sbatch: " + result.output);
  }
  // A line "JOB_ELEMENT STATE NAME" for each element.
  static std::string queue() { return run_tool({"squeue", "--noheader", "--array", "--format=%F_%K %T %j"}).output; }

 private:
  static void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

  // Both sockets stay open until both ports are known, so that the ports differ.
  static std::array<std::string, 2> free_ports() {
    std::array<std::string, 2> ports;
    std::array<int, 2> sockets{};
    for (size_t i = 0; i < ports.size(); ++i) {
      sockets[i] = ::socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof(address);
      if (::bind(sockets[i], reinterpret_cast<sockaddr*>(&address), size) != 0 ||
          ::getsockname(sockets[i], reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw Error("no port is free");
      }
      ports[i] = std::to_string(ntohs(address.sin_port));
    }
    for (const int socket : sockets) ::close(socket);
    return ports;
  }

  std::string configuration() const {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string host = name.data();
    const std::string at = folder_.string();
    const auto [controller, node] = free_ports();
    // cred_expire: the shortest time for which a requeued job is held back.
    return fmt::format(R"(ClusterName=test{pid}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={at}/socket,cred_expire=5
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.pid
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
JobRequeue=1
MinJobAge=2
MaxArraySize=20
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=2
PartitionName=low Nodes={host} PriorityTier=1 PreemptMode=REQUEUE Default=YES
PartitionName=high Nodes={host} PriorityTier=10 PreemptMode=OFF
)",
                       fmt::arg("pid", ::getpid()), fmt::arg("host", host), fmt::arg("controller", controller),
                       fmt::arg("node", node), fmt::arg("at", at));
  }

  void start(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::string log = (folder_ / (words[0] + ".out")).string();
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      kill_with_parent(parent);
      if (std::freopen(log.c_str(), "w", stdout) == nullptr || ::dup2(STDOUT_FILENO, STDERR_FILENO) < 0) ::_exit(127);
      ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    daemons_.push_back(child);
  }

  static void wait_for(const std::string& what, const std::function<bool()>& condition) {
    if (!wait_patiently(condition)) throw Error(what + " has not come up");
  }

  // Ends the daemons in reverse order, and kills one that does not end.
  void stop() {
    for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
      ::kill(*daemon, SIGTERM);
      int tries = 0;
      while (::waitpid(*daemon, nullptr, WNOHANG) == 0) {
        if (++tries == 50) ::kill(*daemon, SIGKILL);
        nap();
      }
    }
    daemons_.clear();
  }

  std::filesystem::path folder_;
  std::vector<pid_t> daemons_;
};

}  // namespace eggroll::test

#endif
