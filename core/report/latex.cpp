#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "config/tree.h"
#include "report/document.h"

namespace eggroll {
namespace {

// In points. A page of the class `article` is this wide, and tables have letters of kLetters.
constexpr double kPage = 345.0;
constexpr double kLetters = 8.0;
constexpr double kBetween = 6.0;      // columns
constexpr double kMostLines = 4.0;    // of a cell, where that leaves other columns room
constexpr size_t kLongestPiece = 16;  // characters of a word; a longer one may break anywhere

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }  // of UTF-8

// What a character takes at most, in Computer Modern of kLetters.
double width_of(char c) {
  static const std::vector<std::pair<std::string, double>> kWidths = {{"fijl!',.:;[]|", 2.6},
                                                                      {"-Irst() ", 3.4},
                                                                      {"0123456789acegoz*/`\\\"${}?J", 4.4},
                                                                      {"bdhknpquvxyS", 4.8},
                                                                      {"mM#%", 7.8}};
  if (static_cast<unsigned char>(c) >= 0x80 || c == 'W') return begins_character(c) ? 8.8 : 0.0;
  for (const auto& [characters, width] : kWidths) {
    if (characters.find(c) != std::string::npos) return width;
  }
  return 6.7;
}

double width_of(std::string_view text) {
  double width = 0.0;
  for (const char c : text) width += c == '-' && text.size() > 1 ? 6.7 : width_of(c);  // it may be a minus
  return width;
}

// The text in pieces between which a line may break: at blanks, in names before a word, in long words anywhere.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  size_t characters = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    ++characters;
    const bool is_letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    const bool ends_part = std::string_view("._=+/,").find(text[i - 1]) != std::string_view::npos;
    const bool may_break =
        (text[i - 1] == ' ' && text[i] != ' ') || (ends_part && is_letter) || characters == kLongestPiece;
    if (!may_break) continue;
    pieces.push_back(text.substr(begin, i - begin));
    begin = i;
    characters = 0;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

double widest_piece(std::string_view text) {
  double widest = 0.0;
  for (const std::string_view piece : pieces_of(text)) widest = std::max(widest, width_of(piece));
  return widest;
}

std::vector<std::string> lines_of(const std::string& text, double width) {
  std::vector<std::string> lines(1);
  for (const std::string_view piece : pieces_of(text)) {
    if (!lines.back().empty() && width_of(lines.back() + std::string(piece)) > width) lines.emplace_back();
    lines.back() += piece;
  }
  for (std::string& line : lines) line = trimmed(line);
  return lines;
}

// A number's minus is longer than a hyphen.
bool is_minus(const std::string& text, size_t i) {
  const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
  return text[i] == '-' && begins && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
}

// What LaTeX would read as a command, or set as another character.
std::string latex_text(const std::string& text, bool may_break) {
  // A bracket behind the end of a row would be an option of it.
  static const std::map<char, const char*> kCommands = {{'\\', "\\textbackslash{}"},
                                                        {'{', "\\{"},
                                                        {'}', "\\}"},
                                                        {'$', "\\$"},
                                                        {'&', "\\&"},
                                                        {'#', "\\#"},
                                                        {'%', "\\%"},
                                                        {'_', "\\_"},
                                                        {'^', "\\textasciicircum{}"},
                                                        {'~', "\\textasciitilde{}"},
                                                        {'<', "\\textless{}"},
                                                        {'>', "\\textgreater{}"},
                                                        {'|', "\\textbar{}"},
                                                        {'"', "\\textquotedbl{}"},
                                                        {'`', "\\textasciigrave{}"},
                                                        {'[', "{[}"}};
  std::string result;
  const std::vector<std::string_view> pieces = pieces_of(text);
  size_t piece = 0;
  size_t piece_end = pieces[0].size();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == piece_end) {
      piece_end += pieces[++piece].size();
      if (may_break && text[i - 1] != ' ') result += "\\allowbreak{}";
    }
    const auto command = kCommands.find(c);
    if (is_minus(text, i)) {
      result += "$-$";
    } else if (command != kCommands.end()) {
      result += command->second;
    } else {
      if (c == '-' && result.ends_with('-')) result += "{}";  // two would be a dash
      result += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    }
  }
  return result;
}

struct Column {
  size_t place = 0;
  bool is_number = true;  // or an empty cell; it breaks no lines
  double least = 0.0;     // the width that it needs
  double most = 0.0;      // the width that it uses
  double width = 0.0;
};

std::vector<Column> columns_of(const Table& table) {
  std::vector<Column> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    Column column{i, true, 0.0, widest_piece(table.columns[i])};
    bool has_words = false;
    for (const std::vector<Text>& row : table.rows) {
      const Text& cell = row[i];
      has_words = has_words || !cell.words.empty();
      column.is_number = column.is_number && (cell.sort_by || cell.words.empty());
      column.most = std::max(column.most, width_of(cell.words));
    }
    column.least = column.most;
    if (!column.is_number) {
      column.least = std::max(widest_piece(table.columns[i]), std::min(column.most / kMostLines, kPage / 4.0));
      for (const std::vector<Text>& row : table.rows) column.least = std::max(column.least, widest_piece(row[i].words));
    }
    if (has_words) columns.push_back(column);
  }
  return columns;
}

// Columns side by side. Those that break lines share what the others leave: none gets more than it uses, or more than
// another one that lacks room.
using Part = std::vector<Column>;

void share_page(Part& part) {
  double room = kPage + kBetween;
  std::vector<Column*> left;
  for (Column& column : part) {
    room -= column.least + kBetween;
    column.width = column.least;
    left.push_back(&column);
  }
  std::sort(left.begin(), left.end(),
            [](const Column* a, const Column* b) { return a->most - a->least < b->most - b->least; });
  for (size_t i = 0; i < left.size(); ++i) {
    const double more = std::min(left[i]->most - left[i]->least, room / static_cast<double>(left.size() - i));
    left[i]->width += more;
    room -= more;
  }
}

// Each part begins with the first column.
std::vector<Part> parts_within(const std::vector<Column>& columns, double page) {
  std::vector<Part> parts = {{}};
  double used = 0.0;
  for (const Column& column : columns) {
    if (!parts.back().empty() && used + kBetween + column.least > page) {
      parts.push_back({columns[0]});
      used = columns[0].least;
    }
    used += (parts.back().empty() ? 0.0 : kBetween) + column.least;
    parts.back().push_back(column);
  }
  return parts;
}

// As few parts as fit the page, about equally wide.
std::vector<Part> parts_of(const std::vector<Column>& columns) {
  std::vector<Part> parts = parts_within(columns, kPage);
  for (double page = kPage; parts.size() > 1 && page > 0.0; page -= kLetters) {
    std::vector<Part> narrower = parts_within(columns, page);
    if (narrower.size() > parts.size()) break;
    parts = std::move(narrower);
  }
  for (Part& part : parts) share_page(part);
  return parts;
}

// The row's number says which rows of the parts are one.
Table with_numbers(Table table) {
  table.columns.insert(table.columns.begin(), "#");
  for (size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].insert(table.rows[i].begin(), Text(std::to_string(i + 1), static_cast<double>(i + 1)));
  }
  return table;
}

std::string tabular_of(const Table& table, const Part& part) {
  std::string format;
  size_t header_lines = 1;
  std::vector<std::vector<std::string>> headers;
  for (const Column& column : part) {
    format += column.is_number ? "r"
              : column.width >= column.most
                  ? "l"
                  : fmt::format(">{{\\raggedright\\arraybackslash}}p{{{:.1f}pt}}", column.width);
    headers.push_back(lines_of(table.columns[column.place], column.width));
    header_lines = std::max(header_lines, headers.back().size());
  }
  std::string out = "\\begin{tabular}{@{}" + format + "@{}}\n\\toprule\n";
  const auto add_row = [&](const auto& cell_of) {
    for (size_t i = 0; i < part.size(); ++i) out += (i > 0 ? " & " : "") + cell_of(i);
    out += " \\\\\n";
  };
  for (size_t line = 0; line < header_lines; ++line) {
    add_row([&](size_t i) {
      const size_t above = header_lines - headers[i].size();  // the last lines stand side by side
      return line < above ? std::string() : latex_text(headers[i][line - above], false);
    });
  }
  out += "\\midrule\n";
  for (const std::vector<Text>& row : table.rows) {
    add_row([&](size_t i) { return latex_text(row[part[i].place].words, part[i].width < part[i].most); });
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace

std::string to_latex(const Table& table) {
  std::vector<Part> parts = parts_of(columns_of(table));
  Table numbered = table;
  if (parts.size() > 1 && table.columns.front() != "#") {
    numbered = with_numbers(table);
    parts = parts_of(columns_of(numbered));
  }
  std::string out =
      "% Needs \\usepackage{array}, \\usepackage{booktabs} and, for pdfLaTeX, \\usepackage[T1]{fontenc} and "
      "\\usepackage{textcomp}.\n";
  out += fmt::format("{{\\fontsize{{{}}}{{{}}}\\selectfont\\setlength{{\\tabcolsep}}{{{}pt}}%\n", kLetters,
                     1.2 * kLetters, kBetween / 2.0);
  for (size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? "\\par\\medskip\n" : "") + tabular_of(numbered, parts[i]);
  return out + "}\n";
}

}  // namespace eggroll
