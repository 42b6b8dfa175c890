#include <fmt/format.h>

#include <algorithm>

#include "report/document.h"

namespace eggroll {
namespace {

// The most runs that a text names; the page and runs.csv have the rest.
constexpr size_t kMostLinks = 12;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string("\\`*_[]<>|").find(c) != std::string::npos) result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string links(const std::vector<size_t>& runs) {
  std::string text;
  for (size_t i = 0; i < std::min(runs.size(), kMostLinks); ++i) {
    text += fmt::format("{}[{}](#run-{})", i > 0 ? " " : "", runs[i], runs[i]);
  }
  if (runs.size() > kMostLinks) text += fmt::format(" and {} more", runs.size() - kMostLinks);
  return text;
}

std::string inline_text(const Text& text) {
  const std::string words =
      text.link.empty() ? escaped(text.words) : fmt::format("[{}](<{}>)", escaped(text.words), text.link);
  if (text.runs.empty()) return words;
  return words.empty() ? links(text.runs) : fmt::format("{} (runs {})", words, links(text.runs));
}

void append(std::string& out, const Heading& heading) {
  out += fmt::format("{} {}\n\n", std::string(static_cast<size_t>(heading.level), '#'), escaped(heading.words));
}

void append(std::string& out, const Paragraph& paragraph) { out += inline_text(paragraph.text) + "\n\n"; }

void append(std::string& out, const Bullets& bullets) {
  for (const Text& item : bullets.items) out += "- " + inline_text(item) + "\n";
  out += "\n";
}

void append(std::string& out, const Table& table) {
  for (const std::string& column : table.columns) out += "| " + escaped(column) + " ";
  out += "|\n";
  for (size_t i = 0; i < table.columns.size(); ++i) out += "| --- ";
  out += "|\n";
  for (size_t i = 0; i < table.rows.size(); ++i) {
    for (size_t j = 0; j < table.rows[i].size(); ++j) {
      const std::string anchor =
          j == 0 && !table.runs.empty() ? fmt::format("<a id=\"run-{}\"></a>", table.runs[i]) : "";
      out += "| " + anchor + inline_text(table.rows[i][j]) + " ";
    }
    out += "|\n";
  }
  out += "\n";
  if (!table.latex.empty()) out += fmt::format("[This table for LaTeX](<{}>)\n\n", table.latex);
}

void append(std::string& out, const Figure& figure) {
  out += fmt::format("![figure](<{}>)\n\n{}\n\n", figure.file, escaped(figure.caption));
}

// The fence is longer than any row of backticks in the text, because such a row would end the block.
void append(std::string& out, const Code& code) {
  size_t longest = 2;
  for (size_t i = 0, row = 0; i < code.text.size(); ++i) {
    row = code.text[i] == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(longest + 1, '`');
  out += fence + "\n" + code.text + "\n" + fence + "\n\n";
}

}  // namespace

std::string to_markdown(const Document& document) {
  std::string out = "# " + escaped(document.title) + "\n\n";
  for (const Block& block : document.blocks) std::visit([&](const auto& part) { append(out, part); }, block);
  out.pop_back();
  return out;
}

std::string slug(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      result += c;
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "unnamed" : result;
}

}  // namespace eggroll
