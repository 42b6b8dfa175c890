// The sections of findings, one function each. Those that have nothing to say add nothing.
#ifndef EGGROLL_REPORT_SECTIONS_H
#define EGGROLL_REPORT_SECTIONS_H

#include <filesystem>
#include <string>
#include <vector>

#include "report/document.h"
#include "report/statistics.h"
#include "report/study.h"
#include "report/verdict.h"

namespace eggroll {

// A document in the making, and the folder that it and its figures go to.
class Draft {
 public:
  Draft(Document& document, std::filesystem::path folder) : document_(document), folder_(std::move(folder)) {}

  void add(Block block) { document_.blocks.push_back(std::move(block)); }
  void heading(int level, const std::string& words) { add(Heading{level, words}); }
  void paragraph(Text text) { add(Paragraph{std::move(text)}); }
  void bullets(std::vector<Text> items) {
    if (!items.empty()) add(Bullets{std::move(items)});
  }
  // plots/NAME.svg. A figure that cannot be drawn is a problem, said in its place.
  void figure(const std::string& name, const std::string& script, const std::string& caption);

  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  Document& document_;
  std::filesystem::path folder_;
  std::vector<std::string> problems_;
};

// A configuration and what its seeds came to.
struct Standing {
  Configuration configuration;
  Mean bits;
  std::vector<size_t> runs;  // that have this figure
  double lowest = 0.0;
  double highest = 0.0;
};
// The standings of runs on one kind of data, the best first.
std::vector<Standing> standings_of(const Study& study, const std::string& data);
// The first's bits minus the second's, over the seeds that both have; absent if these are fewer than two.
std::optional<Mean> paired_difference(const Standing& one, const Standing& other);
// Whether the runs cannot tell them apart: by the paired difference, or without one by overlapping intervals. Absent if
// one of them has no interval.
std::optional<bool> tie(const Standing& one, const Standing& other);
// Kinds of data, in the order of the runs.
std::vector<std::string> data_in(const Study& study);

// "bits per byte".
std::string unit_of(const Study& study, const std::string& data);

std::vector<size_t> numbers_of(const std::vector<const StudyRun*>& runs);

// What came of it: findings_results.cpp.
void add_leaderboard(Draft& draft, const Study& study);
void add_effects(Draft& draft, const Study& study);
void add_curves(Draft& draft, const Study& study);

// What the machine and the rule did: findings_machine.cpp.
void add_threshold(Draft& draft, const Study& study);
void add_speed(Draft& draft, const Study& study);
void add_time(Draft& draft, const Study& study);
void add_saturation(Draft& draft, const Study& study);

// What went wrong, what to type, what is open: findings_health.cpp.
void add_failures(Draft& draft, const Study& study);
void add_reproduction(Draft& draft, const Study& study);
void add_questions(Draft& draft, const Study& study, const std::vector<Judged>& judged);

}  // namespace eggroll

#endif
