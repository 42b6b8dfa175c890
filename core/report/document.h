// A document of headings, texts, tables and figures, written as Markdown and as a page of HTML.
#ifndef EGGROLL_REPORT_DOCUMENT_H
#define EGGROLL_REPORT_DOCUMENT_H

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "system/asset.h"

namespace eggroll {

struct Text {
  Text(std::string text = {}) : words(std::move(text)) {}
  Text(const char* text) : words(text) {}
  Text(std::string text, double number) : words(std::move(text)), sort_by(number) {}
  Text(std::string text, std::vector<size_t> numbers) : words(std::move(text)), runs(std::move(numbers)) {}

  std::string words;
  std::vector<size_t> runs;       // that it speaks of: links to their rows of the table of runs
  std::optional<double> sort_by;  // of a table's cell that is a number
  std::string link;               // relative to the document
};

struct Heading {
  int level = 2;
  std::string words;
};
struct Paragraph {
  Text text;
};
struct Bullets {
  std::vector<Text> items;
};
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Text>> rows;
  std::vector<size_t> runs;  // in the table of runs: each row's number, to which links lead
  std::string latex;         // "tables/claims.tex": its copy for LaTeX; empty: there is none
};
struct Figure {
  std::string file;  // "plots/curves.svg"; with .pdf and .png next to it; empty: there are no files
  std::string caption;
  std::string svg;  // its text
};
struct Code {
  std::string text;
};
using Block = std::variant<Heading, Paragraph, Bullets, Table, Figure, Code>;

struct Document {
  std::string title;
  std::vector<Block> blocks;
};

std::string to_markdown(const Document& document);

// One file that needs no other and no network; its few lines of script sort and filter tables. On a server's page the
// script has an address, and a link leads to the list of runs.
enum class Page { kFile, kServed };
std::string to_html(const Document& document, Page page = Page::kFile);
// The text as HTML holds it, also within the quotes of an attribute.
std::string html_escaped(const std::string& text);

// findings.css and findings.js.
std::span<const Asset> page_assets();

// A tabular of booktabs, without the columns that only link to runs.
std::string to_latex(const Table& table);

// The text as a name in a file or an anchor: letters, digits and dashes.
std::string slug(const std::string& text);

}  // namespace eggroll

#endif
