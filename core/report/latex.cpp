#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/document.h"

namespace eggroll {
namespace {

constexpr size_t kLongWords = 40;  // characters of a cell: its column breaks lines

// A number's minus is longer than a hyphen.
bool is_minus(const std::string& text, size_t i) {
  const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
  return text[i] == '-' && begins && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
}

// What LaTeX would read as a command, or set as another character.
std::string latex_text(const std::string& text) {
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
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
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
  bool is_number = true;  // or an empty cell
  bool is_long = false;
};

std::vector<Column> columns_of(const Table& table) {
  std::vector<Column> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    Column column{i, true, false};
    bool has_words = false;
    for (const std::vector<Text>& row : table.rows) {
      const Text& cell = row[i];
      has_words = has_words || !cell.words.empty();
      column.is_number = column.is_number && (cell.sort_by || cell.words.empty());
      column.is_long = column.is_long || cell.words.size() > kLongWords;
    }
    if (has_words) columns.push_back(column);
  }
  return columns;
}

}  // namespace

std::string to_latex(const Table& table) {
  const std::vector<Column> columns = columns_of(table);
  const auto wide = std::count_if(columns.begin(), columns.end(), [](const Column& column) { return column.is_long; });
  // The more columns, the less room for long texts.
  const double room = std::clamp(2.4 / static_cast<double>(columns.size()), 0.3, 0.6);
  std::string format;
  for (const Column& column : columns) {
    format += column.is_long     ? fmt::format("p{{{:.2f}\\linewidth}}", room / static_cast<double>(wide))
              : column.is_number ? "r"
                                 : "l";
  }
  std::string out =
      "% Needs \\usepackage{booktabs} and, for pdfLaTeX, \\usepackage[T1]{fontenc} and \\usepackage{textcomp}.\n";
  out += "\\begin{tabular}{" + format + "}\n\\toprule\n";
  const auto add_row = [&](const auto& cell_of) {
    for (size_t i = 0; i < columns.size(); ++i) out += (i > 0 ? " & " : "") + cell_of(columns[i]);
    out += " \\\\\n";
  };
  add_row([&](const Column& column) { return latex_text(table.columns[column.place]); });
  out += "\\midrule\n";
  for (const std::vector<Text>& row : table.rows) {
    add_row([&](const Column& column) { return latex_text(row[column.place].words); });
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace eggroll
