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

// A process on a terminal.
class Terminal : public Child {
 public:
  Terminal(const fs::path& folder, const Arguments& arguments, uint16_t columns = 80) : columns_(columns) {
    const std::vector<char*> argv = argv_of(arguments);
    const winsize size{24, columns, 0, 0};
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ < 0) throw Error("no terminal");
    if (pid_ == 0) become(folder, argv);
    ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() override { close(); }

  const std::string& text() const { return out(); }  // both outputs
  std::vector<std::string> rows() const { return rows_of(text(), columns_); }
  void type(const std::string& keys) const {
    EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // Closes the terminal, as a closed window or a lost connection does.
  void close() {
    if (terminal_ >= 0) ::close(terminal_);
    terminal_ = -1;
  }

 private:
  void drain() override { read_all(terminal_, result_.out); }

  uint16_t columns_;
  int terminal_ = -1;
};

}  // namespace eggroll::test

#endif
