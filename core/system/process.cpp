#include "system/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "eggroll/error.h"
#include "system/file_calls.h"
#include "system/machine.h"

namespace eggroll {
namespace {

// What posix_spawn() is told, freed with the object.
struct SpawnPlan {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t how{};

  explicit SpawnPlan(const SpawnOptions& options) {
    posix_spawn_file_actions_init(&files);
    if (!options.has_input) posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (options.output) posix_spawn_file_actions_adddup2(&files, options.output->get(), STDOUT_FILENO);
    if (options.errors) posix_spawn_file_actions_adddup2(&files, options.errors->get(), STDERR_FILENO);
    posix_spawnattr_init(&how);
    if (options.has_own_group) posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
  }
};

}  // namespace

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (private_pipe(ends) != 0) throw Error("no pipe: " + std::generic_category().message(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string read_to_end(const Descriptor& file) {
  std::string text;
  std::array<char, 65536> part{};
  for (ssize_t got; (got = ::read(file.get(), part.data(), part.size())) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) text.append(part.data(), static_cast<size_t>(got));
  }
  return text;
}

int spawn(const std::vector<std::string>& words, const SpawnOptions& options, pid_t& child) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnPlan plan(options);
  return posix_spawnp(&child, arguments[0], &plan.files, &plan.how, arguments.data(), environment());
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace eggroll
