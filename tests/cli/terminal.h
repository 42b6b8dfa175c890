// A command on a terminal of its own, and what that terminal shows.
#ifndef EGGROLL_TESTS_CLI_TERMINAL_H
#define EGGROLL_TESTS_CLI_TERMINAL_H

#include <pty.h>
#include <sys/ioctl.h>

#include "cli/eggroll_command.h"

namespace eggroll::test {

// The rows that a terminal shows after these bytes, with those that have scrolled away and without blanks at their
// ends. It knows the sequences that eggroll writes: up, erase in a line, erase below, colours.
inline std::vector<std::string> rows_of(const std::string& bytes, size_t width) {
  std::vector<std::string> rows(1);
  size_t row = 0;
  size_t column = 0;
  const auto go_down = [&] {
    if (++row == rows.size()) rows.emplace_back();
  };
  for (size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (c == '\r') {
      column = 0;
    } else if (c == '\n') {
      go_down();
    } else if (c == '\033') {
      const size_t end = bytes.find_first_of("AJKm", at);
      if (end == std::string::npos) break;
      const std::string number = bytes.substr(at + 2, end - at - 2);
      if (bytes[end] == 'A') row -= std::min(row, number.empty() ? size_t{1} : std::stoul(number));
      if (bytes[end] == 'J') rows.resize(row + 1);
      if (bytes[end] == 'K' && number == "2") rows[row].clear();
      if (bytes[end] == 'J' || bytes[end] == 'K') rows[row].resize(std::min(rows[row].size(), column));
      at = end;
    } else {
      if (column == width) {
        go_down();
        column = 0;
      }
      rows[row].resize(std::max(rows[row].size(), column + 1), ' ');
      rows[row][column++] = c;
    }
  }
  for (std::string& text : rows) text.erase(text.find_last_not_of(' ') + 1);
  return rows;
}

// Killed with this object at the latest.
class Terminal {
 public:
  Terminal(const fs::path& folder, const Arguments& arguments, uint16_t columns = 80) : columns_(columns) {
    std::vector<char*> argv;
    for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const winsize size{24, columns, 0, 0};
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ < 0) throw Error("no terminal");
    if (pid_ == 0) {
      ::unsetenv("EGGROLL_PLUGIN_PATH");
      if (::chdir(folder.c_str()) != 0) ::_exit(127);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (!ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    close();
  }

  const std::string& text() const { return result_.out; }  // both outputs
  std::vector<std::string> rows() const { return rows_of(text(), columns_); }
  void type(const std::string& keys) const {
    EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // Closes the terminal, as a closed window or a lost connection does.
  void close() {
    if (terminal_ >= 0) ::close(terminal_);
    terminal_ = -1;
  }

  // Waits until the condition holds, the command ends or patience does; returns whether the condition holds.
  bool wait_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      collect();
      if (condition()) return true;
      if (ended_) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  Result wait() {
    EXPECT_TRUE(wait_until([this] { return ended_; })) << "the command has not ended; it said\n" << text();
    return result_;
  }

 private:
  void collect() {
    int status = 0;
    const bool ends_now = !ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_;
    std::array<char, 4096> chunk{};
    for (ssize_t got; terminal_ >= 0 && (got = ::read(terminal_, chunk.data(), chunk.size())) > 0;) {
      result_.out.append(chunk.data(), static_cast<size_t>(got));
    }
    if (!ends_now) return;
    ended_ = true;
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  }

  uint16_t columns_;
  pid_t pid_ = -1;
  int terminal_ = -1;
  bool ended_ = false;
  Result result_;
};

}  // namespace eggroll::test

#endif
