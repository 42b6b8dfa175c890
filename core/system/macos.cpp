#include <crt_externs.h>
#include <fcntl.h>
#include <libproc.h>
#include <mach-o/dyld.h>
#include <malloc/malloc.h>
#include <pthread.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <system_error>
#include <thread>

#include "eggroll/error.h"
#include "eggroll/machine.h"
#include "system/file_calls.h"
#include "system/machine.h"

// The kernel has these commands since 10.11, but the headers only since later.
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#endif

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// Names the process that a child is to die with.
constexpr const char* kParent = "EGGROLL_PARENT";

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  int64_t changed = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, changed_ns(status)};
}

fs::path find_executable() {
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  _NSGetExecutablePath(path.data(), &size);
  std::error_code error;
  return fs::canonical(path.c_str(), error);
}

// As of this process's beginning.
const fs::path kExecutable = find_executable();
const FileIdentity kExecutableFile = identity_of(kExecutable);

rusage_info_v4 usage_of(pid_t process) {
  rusage_info_v4 usage{};
  void* place = &usage;
  if (::proc_pid_rusage(process, RUSAGE_INFO_V4, static_cast<rusage_info_t*>(place)) != 0) return {};
  return usage;
}

}  // namespace

int sync_to_disk(int file) {
  // fsync() alone leaves the bytes in the disk's own cache.
  while (::fcntl(file, F_FULLFSYNC) != 0) {
    if (errno == EINTR) continue;
    // Not every file system, nor every folder, supports it.
    return errno == ENOTSUP || errno == ENOTTY || errno == EINVAL ? ::fsync(file) : -1;
  }
  return 0;
}

int sync_data_to_disk(int file) { return sync_to_disk(file); }

int private_pipe(std::array<int, 2>& ends) {
  if (::pipe(ends.data()) != 0) return -1;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return 0;
}

void close_from(int first) {
  for (int file = first; file < ::getdtablesize(); ++file) ::close(file);
}

const int kSetLockOfOpenFile = F_OFD_SETLK;
const int kGetLockOfOpenFile = F_OFD_GETLK;

int64_t touched_ns(const struct stat& status) {
  return status.st_ctimespec.tv_sec * 1'000'000'000 + status.st_ctimespec.tv_nsec;
}

int64_t changed_ns(const struct stat& status) {
  return status.st_mtimespec.tv_sec * int64_t{1'000'000'000} + status.st_mtimespec.tv_nsec;
}

Cpu this_cpu() {
  Cpu cpu;
  cpu.model = cpu_model();
  cpu.cores = static_cast<uint32_t>(usable_cores().size());
  for (const std::string feature :
       {"FEAT_DotProd", "FEAT_I8MM", "FEAT_BF16", "FEAT_FP16", "FEAT_FHM", "FEAT_SME", "FEAT_SME2"}) {
    if (machine_has("hw.optional.arm." + feature)) cpu.features.push_back(feature);
  }
  return cpu;
}

std::vector<int> usable_cores() {
  std::vector<int> cores(static_cast<size_t>(std::max(0L, ::sysconf(_SC_NPROCESSORS_ONLN))));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

bool can_pin_cores() { return false; }

void pin_to(const std::vector<int>&) {}

fs::path executable_path() { return kExecutable; }

std::string executable_to_start() {
  if (kExecutableFile == FileIdentity{} || identity_of(kExecutable) != kExecutableFile) {
    throw Error(kExecutable.string() +
                " is no longer the file that it was when this command began; give the same command again, and build "
                "or install once it has ended");
  }
  return kExecutable.string();
}

char** environment() { return *_NSGetEnviron(); }

std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables = {std::string(kParent) + "=" + std::to_string(::getpid())};
  for (char** variable = environment(); *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

void kill_with_parent(pid_t parent) {
  if (::getppid() != parent) ::_exit(127);
}

void watch_parent() {
  const char* text = std::getenv(kParent);
  if (text == nullptr) return;
  const pid_t parent = std::atoi(text);
  ::unsetenv(kParent);  // this process's own children are not that parent's
  const int queue = ::kqueue();
  struct kevent ended {};
  EV_SET(&ended, static_cast<uintptr_t>(parent), EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, nullptr);
  if ((queue < 0 || ::kevent(queue, &ended, 1, nullptr, 0, nullptr) != 0) && errno != ESRCH) {
    throw Error("the process " + std::to_string(parent) + ", which started this one, cannot be watched: " +
                std::generic_category().message(errno) + "; start it again");
  }
  if (::getppid() != parent) ::kill(::getpid(), SIGKILL);  // it ended before it could be watched
  std::thread([queue] {
    struct kevent event {};
    while (::kevent(queue, nullptr, 0, &event, 1, nullptr) < 0 && errno == EINTR) continue;
    ::kill(::getpid(), SIGKILL);
  }).detach();
}

void give_way() { ::pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0); }

bool can_compute_after_fork() { return false; }

void end_process(int code) { ::_exit(code); }

void call_before_exit(void (*function)()) { std::atexit(function); }

std::string signal_name(int number) {
  if (number <= 0 || number >= NSIG) return "signal " + std::to_string(number);
  std::string name = std::string("SIG") + sys_signame[number];
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

uint64_t memory_of(pid_t process) { return usage_of(process).ri_phys_footprint; }

uint64_t peak_memory() { return usage_of(::getpid()).ri_lifetime_max_phys_footprint; }

void forget_peak_memory() { ::malloc_zone_pressure_relief(nullptr, 0); }

}  // namespace eggroll
