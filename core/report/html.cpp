#include <fmt/format.h>

#include <algorithm>

#include "report/document.h"

namespace eggroll {
namespace {

// Beyond these a list of runs is folded, and a table gets a field that filters it.
constexpr size_t kMostOpenLinks = 12;
constexpr size_t kMostOpenRows = 15;
constexpr size_t kLongCell = 20;  // characters: it breaks into lines, but not into words one below the other

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1c2530;--soft:#5b6774;--line:#d9dee4;--back:#fff;--card:#f5f7f9;--link:#0b5394}
@media(prefers-color-scheme:dark){:root{--ink:#dde3ea;--soft:#98a4b1;--line:#39434e;--back:#14191f;--card:#1c232b;
--link:#7db7ee}figure svg{filter:invert(1) hue-rotate(180deg)}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:84rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back)}
h1{font-size:1.7rem;margin:.3rem 0 1rem}
h2{font-size:1.35rem;margin:2.5rem 0 .6rem;padding-top:.6rem;border-top:2px solid var(--line)}
h3{font-size:1.1rem;margin:1.8rem 0 .5rem}
h1,h2,h3,td,li,p,figcaption{overflow-wrap:anywhere}
a{color:var(--link)}
nav{background:var(--card);padding:.7rem 1rem;border-radius:6px;font-size:.92rem}
nav a{margin-right:.9rem;white-space:nowrap}
nav div{margin:.15rem 0}
.scroll{overflow:auto;max-height:34rem;border:1px solid var(--line);border-radius:6px;margin:.5rem 0 1rem}
table{border-collapse:collapse;width:100%;font-size:.88rem}
th,td{text-align:left;padding:.3rem .6rem;vertical-align:top;border-bottom:1px solid var(--line)}
th{position:sticky;top:0;background:var(--card);cursor:pointer;white-space:nowrap;z-index:1}
td{min-width:6rem;max-width:26rem}
td.w{min-width:13rem}
td.r{min-width:7rem}
td.n{min-width:0;font-variant-numeric:tabular-nums;white-space:nowrap;overflow-wrap:normal}
tr:target td{background:color-mix(in srgb,var(--link) 22%,transparent)}
tr{scroll-margin-top:2.5rem}
pre{background:var(--card);padding:.8rem 1rem;border-radius:6px;overflow:auto;font-size:.85rem}
figure{margin:.8rem 0 1.2rem}
figure svg{max-width:100%;height:auto;background:#fff;border-radius:6px}
figcaption,.of{color:var(--soft);font-size:.88rem}
input{font:inherit;font-size:.9rem;padding:.2rem .5rem;border:1px solid var(--line);border-radius:5px;background:var(--back);
color:var(--ink);width:16rem;max-width:100%}
details{display:inline-block}.p{margin:.7rem 0;overflow-wrap:anywhere}summary{cursor:pointer;color:var(--soft)}
@media print{
body{padding:0;max-width:none;font-size:10pt}
.scroll{overflow:visible;max-height:none;border:0}
table{font-size:7.5pt}
th,td{padding:.15rem .3rem}
th{position:static;white-space:normal}
td,td.w,td.r,td.n{min-width:0;max-width:none}
pre{white-space:pre-wrap;font-size:7.5pt}
input{display:none}
figure,tr{break-inside:avoid}
h2,h3{break-after:avoid}
a{color:inherit}
}
)";

constexpr const char* kScript = R"(
document.querySelectorAll('table').forEach(table=>{
  const body=table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head,column)=>{
    let up=false;
    head.title='sort';
    head.onclick=()=>{
      up=!up;
      const key=row=>{const c=row.cells[column];return c.dataset.s!==undefined?Number(c.dataset.s):c.textContent};
      const order=(a,b)=>typeof a===typeof b?(typeof a==='number'?a-b:a.localeCompare(b,undefined,{numeric:true})):
        typeof a==='number'?-1:1;
      const rows=[...body.rows].map(row=>[key(row),row]).sort((a,b)=>(up?1:-1)*order(a[0],b[0]));
      body.append(...rows.map(pair=>pair[1]));
    };
  });
});
document.querySelectorAll('input[data-filter]').forEach(input=>{
  const rows=[...input.parentElement.nextElementSibling.querySelectorAll('tbody tr')];
  const texts=rows.map(row=>row.textContent.toLowerCase());
  input.oninput=()=>{
    const words=input.value.toLowerCase().split(/\s+/);
    rows.forEach((row,i)=>row.hidden=!words.every(word=>texts[i].includes(word)));
  };
});
)";

std::string escaped(const std::string& text) {
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

std::string links(const std::vector<size_t>& runs) {
  std::string text;
  for (const size_t run : runs) text += fmt::format("{}<a href=\"#run-{}\">{}</a>", text.empty() ? "" : " ", run, run);
  if (runs.size() <= kMostOpenLinks) return text;
  return fmt::format("<details><summary>{} runs</summary>{}</details>", runs.size(), text);
}

std::string inline_text(const Text& text) {
  const std::string words = text.link.empty()
                                ? escaped(text.words)
                                : fmt::format("<a href=\"{}\">{}</a>", escaped(text.link), escaped(text.words));
  if (text.runs.empty()) return words;
  if (words.empty()) return links(text.runs);
  return fmt::format("{} <span class=of>({}{})</span>", words, text.runs.size() <= kMostOpenLinks ? "runs " : "",
                     links(text.runs));
}

class Page {
 public:
  void operator()(const Heading& heading) {
    const std::string id = fmt::format("s{}", ++headings_);
    out_ += fmt::format("<h{0} id={1}>{2}</h{0}>\n", heading.level, id, escaped(heading.words));
    if (heading.level == 2) contents_ += contents_.empty() ? "<div>" : "</div><div>";
    contents_ += fmt::format("<a href=\"#{}\">{}{}{}</a> ", id, heading.level == 2 ? "<b>" : "", escaped(heading.words),
                             heading.level == 2 ? "</b>" : "");
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
    for (const std::string& column : table.columns) out_ += "<th>" + escaped(column) + "</th>";
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
      out_ += fmt::format("<p class=of><a href=\"{}\">This table for LaTeX</a></p>\n", escaped(table.latex));
    }
  }

  void operator()(const Figure& figure) {
    // The part before it is only for files.
    const size_t begin = std::min(figure.svg.find("<svg"), figure.svg.size());
    const std::string stem = figure.file.substr(0, figure.file.rfind('.'));
    std::string files;
    for (const char* format : {"svg", "pdf", "png"}) {
      files += fmt::format("{}<a href=\"{}.{}\">{}</a>", files.empty() ? "" : ", ", escaped(stem), format, format);
    }
    out_ += fmt::format("<figure>{}<figcaption>{} ({})</figcaption></figure>\n", figure.svg.substr(begin),
                        escaped(figure.caption), files);
  }

  void operator()(const Code& code) { out_ += "<pre>" + escaped(code.text) + "</pre>\n"; }

  std::string html(const std::string& title) const {
    return fmt::format(
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width\">\n"
        "<title>{0}</title>\n<style>{1}</style>\n<h1>{0}</h1>\n<nav>{2}{3}</nav>\n{4}<script>{5}</script>\n</html>\n",
        escaped(title), kStyle, contents_, contents_.empty() ? "" : "</div>", out_, kScript);
  }

 private:
  std::string out_;
  std::string contents_;
  size_t headings_ = 0;
};

}  // namespace

std::string to_html(const Document& document) {
  Page page;
  for (const Block& block : document.blocks) std::visit(page, block);
  return page.html(document.title);
}

}  // namespace eggroll
