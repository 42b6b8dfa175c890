#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "system/text.h"

namespace eggroll {

bool on_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

size_t row_width() { return on_terminal() ? terminal_width() - 1 : std::string::npos; }

std::string wrapped(const std::string& text, size_t width, size_t indent) {
  std::istringstream words(text);
  std::string lines;
  size_t column = 0;
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() <= width;
    if (column > 0) lines += fits ? " " : "\n" + std::string(indent, ' ');
    column = column > 0 && fits ? column + 1 + word.size() : word.size();
    lines += word;
  }
  return lines;
}

namespace {

bool reader_gone = false;

}  // namespace

// A handler, unlike SIG_IGN, is not inherited by the programs that a run starts.
void outlive_reader() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = static_cast<int>(SA_RESTART);
  sigaction(SIGPIPE, &action, nullptr);
}

bool reader_has_gone() { return reader_gone; }

void say(const std::string& text) {
  if (reader_gone) return;
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) reader_gone = errno == EPIPE;
}

void say_line(const std::string& line) { say(shown(line) + "\n"); }

void print_json(const nlohmann::ordered_json& json) {
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  // The library escapes control characters below U+0020 alone; those from U+007F to U+009F stand in strings too.
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0x7f) {
      safe += "\\u007f";
    } else if (byte == 0xc2 && next < 0xa0) {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(next));
      ++i;
    } else {
      safe += text[i];
    }
  }
  fmt::print("{}\n", safe);
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace eggroll
