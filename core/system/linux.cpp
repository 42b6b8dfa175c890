#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "eggroll/plugin.h"
#include "system/cpuinfo.h"
#include "system/file_calls.h"
#include "system/machine.h"

namespace eggroll {
namespace {

constexpr const char* kThisExecutable = "/proc/self/exe";

std::atomic<void (*)()> before_exit{nullptr};

[[noreturn]] void exit_heard(int code) {
  if (void (*const function)() = before_exit.load(); function != nullptr) function();
  end_process(code);
}

}  // namespace

int sync_to_disk(int file) { return ::fsync(file); }

int sync_data_to_disk(int file) { return ::fdatasync(file); }

int private_pipe(std::array<int, 2>& ends) { return ::pipe2(ends.data(), O_CLOEXEC); }

void close_from(int first) { ::close_range(static_cast<unsigned>(first), ~0U, 0); }

const int kSetLockOfOpenFile = F_OFD_SETLK;
const int kGetLockOfOpenFile = F_OFD_GETLK;

int64_t touched_ns(const struct stat& status) { return status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec; }

int64_t changed_ns(const struct stat& status) { return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec; }

Cpu this_cpu() {
  std::ostringstream text;
  text << std::ifstream("/proc/cpuinfo").rdbuf();
  return parse_cpuinfo(text.str());
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(static_cast<int>(core));
  }
  return cores;
}

bool can_pin_cores() { return true; }

void pin_to(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<size_t>(core), &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

std::filesystem::path executable_path() { return std::filesystem::read_symlink(kThisExecutable); }

std::string executable_to_start() { return kThisExecutable; }

char** environment() { return environ; }

std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

void kill_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before it could be watched
}

void watch_parent() {}  // kill_with_parent() has done it

void give_way() {
  constexpr int kLeast = 19;
  ::setpriority(PRIO_PROCESS, 0, kLeast);  // of the thread alone, unlike what POSIX says
}

bool can_compute_after_fork() { return true; }

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

void end_process(int code) {
  for (;;) ::syscall(SYS_exit_group, code);
}

void call_before_exit(void (*function)()) {
  std::atexit(function);
  std::at_quick_exit(function);
  before_exit.store(function);
}

uint64_t memory_of(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");  // "VmHWM:      123456 kB"
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

void forget_peak_memory() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace eggroll

// A library that is loaded later finds these functions before those of the C library.
extern "C" {
EGG_EXPORT void _exit(int code) { eggroll::exit_heard(code); }
EGG_EXPORT void _Exit(int code) noexcept { eggroll::exit_heard(code); }
}
