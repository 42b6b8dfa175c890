#include "experiment/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "system/files.h"
#include "system/machine.h"
#include "system/process.h"

namespace eggroll {
namespace {

// All that is needed between fork and exec, prepared before it: the child may not allocate.
struct ChildArguments {
  std::string executable;
  std::vector<std::string> words;
  std::vector<std::string> variables;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::vector<int> cores;
  int log;
  pid_t parent;

  ChildArguments(const std::vector<std::string>& given, int log_file, const Worker& worker)
      : executable(executable_to_start()),
        words{executable_path().string()},
        cores(worker.cores),
        log(log_file),
        parent(::getpid()) {
    words.insert(words.end(), given.begin(), given.end());
    constexpr const char* kGpus = "CUDA_VISIBLE_DEVICES=";
    for (std::string& variable : environment_of_child()) {
      if (worker.gpus.empty() || !variable.starts_with(kGpus)) variables.push_back(std::move(variable));
    }
    if (!worker.gpus.empty()) variables.push_back(kGpus + worker.gpus);
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& variable : variables) environment.push_back(variable.data());
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
  }

  [[noreturn]] void run() const {
    kill_with_parent(parent);
    ::setpgid(0, 0);  // Ctrl-C is for the runner, which decides
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    if (!cores.empty()) pin_to(cores);
    // SIGHUP is left alone, so that what nohup ignores stays ignored.
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
    ::execve(executable.c_str(), arguments.data(), environment.data());
    constexpr char kText[] = "eggroll: the executable could not be started\n";
    if (::write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0) ::_exit(126);
    ::_exit(127);
  }
};

}  // namespace

PointProcess::PointProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log,
                           const Worker& worker) {
  const Descriptor file = open_regular(log, O_WRONLY | O_CREAT | O_APPEND, "write", Links::kRefused);
  const ChildArguments launch(arguments, file.get(), worker);
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) launch.run();
  if (pid_ < 0) throw Error("a process could not be started: " + std::generic_category().message(errno));
}

PointProcess::~PointProcess() {
  if (status_) return;
  signal(SIGKILL);
  wait_for(pid_);
}

std::optional<int> PointProcess::poll() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
    ::kill(-pid_, SIGKILL);  // what it started and left
  }
  return status_;
}

double PointProcess::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

uint64_t PointProcess::memory_bytes() const { return memory_of(pid_); }

void PointProcess::signal(int number) const {
  if (status_) return;
  // The process makes its group just after it begins. Until then, only the process itself can get the signal.
  if (::kill(-pid_, number) != 0) ::kill(pid_, number);
}

}  // namespace eggroll
