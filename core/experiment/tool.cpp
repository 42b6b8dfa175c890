#include "experiment/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "system/file_calls.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll {
namespace {

// What posix_spawn() is told, freed with the object.
struct SpawnPlan {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t how{};

  explicit SpawnPlan(int output) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
  }
};

}  // namespace

ToolResult run_tool(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (private_pipe(ends) != 0) throw Error("no pipe: " + std::generic_category().message(errno));
  const Descriptor output(ends[0]);
  pid_t child = 0;
  {
    const Descriptor input(ends[1]);
    const SpawnPlan plan(ends[1]);
    const int failure = posix_spawnp(&child, arguments[0], &plan.files, &plan.how, arguments.data(), environment());
    if (failure != 0) {
      throw Error(fmt::format("cannot start {}: {}", words[0], std::generic_category().message(failure)));
    }
  }
  ToolResult result;
  std::array<char, 4096> part{};
  for (ssize_t got; (got = ::read(output.get(), part.data(), part.size())) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) result.output.append(part.data(), static_cast<size_t>(got));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace eggroll
