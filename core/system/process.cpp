#include "system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>

#include "eggroll/error.h"
#include "system/file_calls.h"
#include "system/machine.h"

namespace eggroll {
namespace {

// The arguments for posix_spawn(), freed with the object.
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

std::vector<char*> arguments_of(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

// Runs in the child between this process and the program. It ends as the program does; if the parent is gone, it ends
// the group, so that what the program has started ends too. It may not allocate.
[[noreturn]] void stand_by(pid_t program, pid_t parent) {
  constexpr timespec kTick{0, 10'000'000};
  int status = 0;
  while (::waitpid(program, &status, WNOHANG) == 0) {
    if (::getppid() != parent) ::kill(0, SIGKILL);
    ::nanosleep(&kTick, nullptr);
  }
  if (WIFSIGNALED(status)) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WEXITSTATUS(status));
}

// Like spawn(), but with a group of its own, which is killed when this process ends. posix_spawn() cannot do that.
int fork_and_start(const std::vector<std::string>& words, const Descriptor& input, const Descriptor& output,
                   const Descriptor& errors, pid_t& child) {
  const std::vector<char*> arguments = arguments_of(words);
  Pipe failure = open_pipe();  // closed by a start that succeeds
  const pid_t parent = ::getpid();
  child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {  // may not allocate
    ::setpgid(0, 0);
    const pid_t between = ::getpid();
    const pid_t program = ::fork();
    if (program != 0) {
      const int number = errno;
      if (program < 0) ::_exit(::write(failure.input->get(), &number, sizeof(number)) < 0 ? 126 : 127);
      close_from(STDERR_FILENO + 1);  // the locks of the parent too, which it holds for as long as anyone has them open
      stand_by(program, parent);
    }
    kill_with_parent(between);
    ::lseek(input.get(), 0, SEEK_SET);
    ::dup2(input.get(), STDIN_FILENO);
    ::dup2(output.get(), STDOUT_FILENO);
    ::dup2(errors.get(), STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    const int number = errno;
    ::_exit(::write(failure.input->get(), &number, sizeof(number)) < 0 ? 126 : 127);
  }
  failure.input.reset();
  const std::string number = read_to_end(failure.output);
  if (number.size() != sizeof(int)) return 0;
  wait_for(child);
  int error_number = 0;
  std::memcpy(&error_number, number.data(), sizeof(error_number));
  return error_number;
}

// A stream of a program that is read as it comes.
struct Listened {
  Descriptor* file;
  std::string text = {};
  bool open = true;

  void read_some() {
    std::array<char, 65536> part{};
    const ssize_t got = ::read(file->get(), part.data(), part.size());
    if (got > 0) text.append(part.data(), static_cast<size_t>(got));
    open = got > 0 || (got < 0 && errno == EINTR);
  }
};

// Reads what is there, and waits for it no longer than this.
void read_ready(std::array<Listened*, 2> streams, int milliseconds) {
  std::array<pollfd, 2> waiting{};
  for (size_t i = 0; i < streams.size(); ++i) {
    waiting[i] = {streams[i]->open ? streams[i]->file->get() : -1, POLLIN, 0};
  }
  if (::poll(waiting.data(), waiting.size(), milliseconds) <= 0) return;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (waiting[i].revents != 0) streams[i]->read_some();
  }
}

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
  const std::vector<char*> arguments = arguments_of(words);
  const SpawnPlan plan(options);
  return posix_spawnp(&child, arguments[0], &plan.files, &plan.how, arguments.data(), environment());
}

Conversation converse(const std::vector<std::string>& words, const Descriptor& input,
                      const ConversationLimits& limits) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTick = 10;                                    // milliseconds between looks whether it has ended
  constexpr auto kLastWords = std::chrono::milliseconds(500);  // for what lies in the pipes of one that has ended
  Conversation talk;
  Pipe out = open_pipe();
  Pipe err = open_pipe();
  pid_t child = 0;
  talk.failure = fork_and_start(words, input, *out.input, *err.input, child);
  out.input.reset();
  err.input.reset();
  if (talk.failure != 0) return talk;
  Listened output{&out.output};
  Listened errors{&err.output};
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
  bool running = true;
  auto last = deadline + kLastWords;
  while (output.open || errors.open || running) {
    read_ready({&output, &errors}, kTick);
    if (errors.text.size() > 2 * limits.error_bytes) errors.text.erase(0, errors.text.size() - limits.error_bytes);
    talk.too_long = output.text.size() > limits.output_bytes;
    if (running && ::waitpid(child, &talk.status, WNOHANG) == child) {
      running = false;
      ::kill(-child, SIGKILL);  // what it started and left
      last = Clock::now() + kLastWords;
    }
    talk.out_of_time = running && Clock::now() >= deadline;
    talk.stopped = running && limits.stop != nullptr && limits.stop->load();
    if (talk.too_long || talk.out_of_time || talk.stopped || (!running && Clock::now() >= last)) break;
  }
  if (running) {
    ::kill(-child, SIGKILL);
    talk.status = wait_for(child);
  }
  talk.output = output.text.substr(0, limits.output_bytes);
  talk.errors = errors.text.substr(errors.text.size() - std::min(errors.text.size(), limits.error_bytes));
  return talk;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace eggroll
