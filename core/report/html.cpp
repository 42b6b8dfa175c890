#include <fmt/format.h>

#include <algorithm>

#include "report/document.h"

namespace eggroll {
namespace {

// A list with more runs is folded, and a table with more rows gets a field that filters it.
constexpr size_t kMostOpenLinks = 12;
constexpr size_t kMostOpenRows = 15;
constexpr size_t kLongCell = 20;  // characters: it breaks into lines, but not into words one below the other

std::string_view asset(std::string_view name) {
  const std::span<const Asset> all = page_assets();
  return std::find_if(all.begin(), all.end(), [&](const Asset& one) { return one.name == name; })->text;
}

std::string links(const std::vector<size_t>& runs) {
  std::string text;
  for (const size_t run : runs) text += fmt::format("{}<a href=\"#run-{}\">{}</a>", text.empty() ? "" : " ", run, run);
  if (runs.size() <= kMostOpenLinks) return text;
  return fmt::format("<details><summary>{} runs</summary>{}</details>", runs.size(), text);
}

std::string inline_text(const Text& text) {
  const std::string words =
      text.link.empty() ? html_escaped(text.words)
                        : fmt::format("<a href=\"{}\">{}</a>", html_escaped(text.link), html_escaped(text.words));
  if (text.runs.empty()) return words;
  if (words.empty()) return links(text.runs);
  return fmt::format("{} <span class=of>({}{})</span>", words, text.runs.size() <= kMostOpenLinks ? "runs " : "",
                     links(text.runs));
}

class Printer {
 public:
  void operator()(const Heading& heading) {
    const std::string id = fmt::format("s{}", ++headings_);
    out_ += fmt::format("<h{0} id={1}>{2}</h{0}>\n", heading.level, id, html_escaped(heading.words));
    if (heading.level == 2) contents_ += contents_.empty() ? "<div>" : "</div><div>";
    contents_ += fmt::format("<a href=\"#{}\">{}{}{}</a> ", id, heading.level == 2 ? "<b>" : "",
                             html_escaped(heading.words), heading.level == 2 ? "</b>" : "");
  }

  void operator()(const Paragraph& paragraph) { out_ += "<div class=p>" + inline_text(paragraph.text) + "</div>\n"; }

  void operator()(const Bullets& bullets) {
    out_ += "<ul>\n";
    for (const Text& item : bullets.items) out_ += "<li>" + inline_text(item) + "</li>\n";
    out_ += "</ul>\n";
  }

  void operator()(const Table& table) {
    if (table.rows.size() > kMostOpenRows) {
      out_ += fmt::format("<div><input data-filter placeholder=\"filter {} rows\" aria-label=\"filter rows\"></div>\n",
                          table.rows.size());
    }
    out_ += "<div class=scroll><table><thead><tr>";
    for (const std::string& column : table.columns) out_ += "<th>" + html_escaped(column) + "</th>";
    out_ += "</tr></thead><tbody>\n";
    for (size_t i = 0; i < table.rows.size(); ++i) {
      out_ += table.runs.empty() ? "<tr>" : fmt::format("<tr id=run-{}>", table.runs[i]);
      for (const Text& cell : table.rows[i]) {
        out_ += cell.sort_by                    ? fmt::format("<td class=n data-s=\"{}\">", *cell.sort_by)
                : !cell.runs.empty()            ? "<td class=r>"
                : cell.words.size() > kLongCell ? "<td class=w>"
                                                : "<td>";
        out_ += inline_text(cell) + "</td>";
      }
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
    if (!table.latex.empty()) {
      out_ += fmt::format("<p class=of><a href=\"{}\">This table for LaTeX</a></p>\n", html_escaped(table.latex));
    }
  }

  void operator()(const Figure& figure) {
    // The part before it is only for files.
    const size_t begin = std::min(figure.svg.find("<svg"), figure.svg.size());
    const std::string stem = figure.file.substr(0, figure.file.rfind('.'));
    std::string files;
    for (const char* format : {"svg", "pdf", "png"}) {
      files += fmt::format("{}<a href=\"{}.{}\">{}</a>", files.empty() ? "" : ", ", html_escaped(stem), format, format);
    }
    out_ += fmt::format("<figure>{}<figcaption>{}{}</figcaption></figure>\n", figure.svg.substr(begin),
                        html_escaped(figure.caption), figure.file.empty() ? "" : fmt::format(" ({})", files));
  }

  void operator()(const Code& code) { out_ += "<pre>" + html_escaped(code.text) + "</pre>\n"; }

  std::string html(const std::string& title, Page page) const {
    const bool is_served = page == Page::kServed;
    return fmt::format(
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width\">\n"
        "<title>{0}</title>\n<style>\n{1}</style>\n{2}<h1>{0}</h1>\n<nav>{3}{4}</nav>\n{5}{6}\n</html>\n",
        html_escaped(title), asset("findings.css"), is_served ? "<p><a href=\"/\">\u2190 all runs</a></p>\n" : "",
        contents_, contents_.empty() ? "" : "</div>", out_,
        is_served ? "<script src=\"findings.js\"></script>"
                  : fmt::format("<script>\n{}</script>", asset("findings.js")));
  }

 private:
  std::string out_;
  std::string contents_;
  size_t headings_ = 0;
};

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string to_html(const Document& document, Page page) {
  Printer printer;
  for (const Block& block : document.blocks) std::visit(printer, block);
  return printer.html(document.title, page);
}

}  // namespace eggroll
