// Writes tables for LaTeX. Only the document that includes them knows how wide the page is.
#include <algorithm>
#include <map>

#include "report/document.h"

namespace eggroll {
namespace {

constexpr size_t kLongestLine = 40;  // characters of a cell; a column with longer ones breaks lines

// A number's minus is longer than a hyphen.
bool is_minus(const std::string& text, size_t i) {
  const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
  return text[i] == '-' && begins && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
}

// Escapes what LaTeX would read as a command, or set as another character.
std::string latex_text(const std::string& text) {
  // LaTeX would take a bracket after the end of a row for an option of the row.
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

// The column's letter in a tabular; "" for a column without words, such as the one that links to runs.
std::string format_of(const Table& table, size_t column) {
  size_t longest = 0;
  bool is_number = true;  // or an empty cell
  for (const std::vector<Text>& row : table.rows) {
    longest = std::max(longest, row[column].words.size());
    is_number = is_number && (row[column].sort_by || row[column].words.empty());
  }
  if (longest == 0) return "";
  return is_number ? "r" : longest > kLongestLine ? "p{0.4\\linewidth}" : "l";
}

}  // namespace

std::string to_latex(const Table& table) {
  std::vector<size_t> columns;
  std::string format;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const std::string letter = format_of(table, i);
    if (!letter.empty()) columns.push_back(i);
    format += letter;
  }
  std::string out =
      "% Needs \\usepackage{booktabs} and, for pdfLaTeX, \\usepackage[T1]{fontenc} and \\usepackage{textcomp}.\n";
  out += "\\begin{tabular}{" + format + "}\n\\toprule\n";
  const auto add_row = [&](const auto& words_of) {
    for (const size_t i : columns) out += (i == columns.front() ? "" : " & ") + latex_text(words_of(i));
    out += " \\\\\n";
  };
  add_row([&](size_t i) { return table.columns[i]; });
  out += "\\midrule\n";
  for (const std::vector<Text>& row : table.rows) add_row([&](size_t i) { return row[i].words; });
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace eggroll
