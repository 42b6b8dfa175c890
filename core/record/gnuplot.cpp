#include "record/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "system/file_calls.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// Runs gnuplot on the script, its picture into the open file. Returns its complaint, empty where it succeeded.
std::string run_gnuplot(const fs::path& script, const Descriptor& picture, const std::string& what) {
  std::array<int, 2> ends{};
  if (private_pipe(ends) != 0) throw file_error("run gnuplot on", script, errno);
  const Descriptor from_gnuplot(ends[0]);
  pid_t pid = 0;
  {
    const Descriptor complaints(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, picture.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, complaints.get(), STDERR_FILENO);
    std::string name = "gnuplot";
    std::string option = "--default-settings";  // the picture must not depend on the user's start-up files
    std::string path = script.string();
    std::array<char*, 4> arguments = {name.data(), option.data(), path.data(), nullptr};
    const int failure = ::posix_spawnp(&pid, "gnuplot", &actions, nullptr, arguments.data(), environment());
    posix_spawn_file_actions_destroy(&actions);
    if (failure == ENOENT) {
      throw Error(what + ": gnuplot is not installed; install the package gnuplot-nox and run gnuplot on " +
                  script.string());
    }
    if (failure != 0) throw file_error("run gnuplot on", script, failure);
  }
  std::string complaint;
  std::array<char, 512> chunk{};
  for (ssize_t got;
       (got = ::read(from_gnuplot.get(), chunk.data(), chunk.size())) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) complaint.append(chunk.data(), static_cast<size_t>(got));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  for (char& c : complaint) c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  const size_t begin = std::min(complaint.size(), complaint.find_first_not_of(' '));
  const size_t end = complaint.find_last_not_of(' ');
  return begin == complaint.size() ? "it was stopped" : complaint.substr(begin, end + 1 - begin);
}

}  // namespace

std::string gnuplot_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + "'";
}

std::pair<double, const char*> gnuplot_unit(double largest) {
  if (largest >= 1e9) return {1e9, ", billions"};
  if (largest >= 1e6) return {1e6, ", millions"};
  return largest >= 1e3 ? std::pair(1e3, ", thousands") : std::pair(1.0, "");
}

void draw_with_gnuplot(const std::string& script_text, const fs::path& picture_path, const std::string& what) {
  const fs::path script = fs::path(picture_path).replace_extension(".gp");
  write_atomically(script, script_text);
  const fs::path temporary = fs::path(picture_path).concat(".tmp");
  std::string complaint;
  try {
    const Descriptor picture(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (picture.get() < 0) throw file_error("write", temporary, errno);
    complaint = run_gnuplot(script, picture, what);
    if (complaint.empty() && sync_to_disk(picture.get()) != 0) throw file_error("write", temporary, errno);
    if (!complaint.empty()) {
      throw Error(fmt::format("{}: gnuplot failed on {} ({}); install the package gnuplot-nox or mend the script", what,
                              script.string(), complaint));
    }
    if (::rename(temporary.c_str(), picture_path.c_str()) != 0) throw file_error("write", picture_path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace eggroll
