// The sections of findings, one function each. A section that has nothing to say adds nothing.
#ifndef EGGROLL_REPORT_SECTIONS_H
#define EGGROLL_REPORT_SECTIONS_H

#include <filesystem>
#include <string>
#include <vector>

#include "report/document.h"
#include "report/findings.h"
#include "report/plots.h"
#include "report/standings.h"
#include "report/study.h"
#include "report/verdict.h"
#include "system/number_text.h"

namespace eggroll {

// A document that is being written. Its figures and tables are files of a folder, and links lead to files. If a server
// sends the document, it contains the figures, and links lead to the server's pages of the runs.
class Draft {
 public:
  Draft(Document& document, std::filesystem::path folder) : document_(document), folder_(std::move(folder)) {}
  Draft(Document& document, RunAddress address) : document_(document), address_(std::move(address)) {}

  void add(Block block) { document_.blocks.push_back(std::move(block)); }
  void heading(int level, const std::string& words) { add(Heading{level, words}); }
  void paragraph(Text text) { add(Paragraph{std::move(text)}); }
  void bullets(std::vector<Text> items) {
    if (!items.empty()) add(Bullets{std::move(items)});
  }
  // Adds the table with its copy for LaTeX, tables/NAME.tex, which may differ from the page's.
  void table(const std::string& name, const Table& table) { this->table(name, table, table); }
  void table(const std::string& name, Table table, const Table& for_latex);
  // Sets the words before the caption of each figure from here on.
  void set_caution(const std::string& words) { caution_ = words; }
  // Writes plots/NAME.svg, .pdf and .png. A figure that cannot be drawn becomes a problem, said in its place.
  void figure(const std::string& name, const std::string& script, const std::string& caption);

  // Adds a problem with a file that a section reads, and says it in its place.
  void problem(const std::string& sentence) {
    problems_.push_back(sentence);
    paragraph(sentence);
  }

  bool is_served() const { return static_cast<bool>(address_); }  // then there are no files next to the page
  // The link to the run: its record, or its page.
  std::string link_to(const CollectedRun& run) const;
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  Document& document_;
  std::filesystem::path folder_;
  RunAddress address_;  // of a document that a server sends
  std::string caution_;
  std::vector<std::string> problems_;
};

// ", text b.txt" if the study has several kinds of data.
std::string data_suffix(const Study& study, const std::string& data);
// A point of a figure: the mean and its interval.
BandPoint point_of(double x, const Mean& mean);
// "4.036 to 4.104"; "none" of one value.
Text interval_cell(const Mean& mean, const Decimals& text);
// The mean and the ends of its interval.
void append(std::vector<double>& numbers, const Mean& mean);
// Means over the runs of the baselines and other yardsticks of their data.
std::vector<std::pair<std::string, double>> yardsticks_of(const std::vector<const StudyRun*>& runs);

// The setup of the runs: findings_setup.cpp.
void add_setup(Draft& draft, const Study& study);

// The results: findings_leaderboard.cpp, findings_results.cpp and findings_interactions.cpp.
void add_leaderboard(Draft& draft, const Study& study);
void add_effects(Draft& draft, const Study& study);
void add_interactions(Draft& draft, const Study& study);
void add_curves(Draft& draft, const Study& study);

// Replaces these sections if the study is a search: findings_search.cpp.
void add_search(Draft& draft, const Study& study);

// The machine's and the rule's behaviour: findings_machine.cpp.
void add_threshold(Draft& draft, const Study& study);
void add_speed(Draft& draft, const Study& study);
void add_time(Draft& draft, const Study& study);
void add_saturation(Draft& draft, const Study& study);

// Failures, commands to repeat the runs, and open questions: findings_health.cpp.
void add_failures(Draft& draft, const Study& study);
void add_reproduction(Draft& draft, const Study& study);
void add_questions(Draft& draft, const Study& study, const std::vector<Judged>& judged);

// The best configuration on the test split: findings_test_split.cpp. It chooses nothing.
void add_test_split(Draft& draft, const Study& study);

}  // namespace eggroll

#endif
