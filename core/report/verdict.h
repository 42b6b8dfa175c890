// A claim judged by the runs of its study.
#ifndef EGGROLL_REPORT_VERDICT_H
#define EGGROLL_REPORT_VERDICT_H

#include <optional>
#include <string>
#include <vector>

#include "record/claim.h"
#include "report/statistics.h"
#include "report/study.h"

namespace eggroll {

enum class Outcome { kConfirmed, kRefuted, kUndecided, kNotJudged };

// The figure that a verdict rests on.
struct Estimate {
  std::string of;  // "difference", "slope" or "share"
  double value = 0.0;
  std::optional<Interval> interval;
  size_t n = 0;  // seeds; of a share runs
};

struct Verdict {
  Outcome outcome = Outcome::kUndecided;
  std::string finding;       // "mean difference -0.12, 95 % interval -0.15 to -0.09, 10 pairs"
  std::vector<size_t> runs;  // their numbers
  double p = 1.0;            // two-sided, of the verdict that the figures are nearest to; 1 if there is none
  std::optional<Estimate> estimate = std::nullopt;
};

// If the runs cannot decide, the finding says why. A claim is not judged if it needs a figure from metrics that are
// neither in the runs' records nor in files next to them.
Verdict judge(const Claim& claim, const Study& study);

std::string outcome_name(Outcome outcome);

// A claim with its verdict. If the claim cannot be read, the verdict's finding says why.
struct Judged {
  std::string says;
  Verdict verdict;
  std::string caution;      // "On a withdrawn text: "; stands before the answer
  std::string exploratory;  // "exploratory, stated after 30 of 30 runs had ended"; empty if it was stated in advance
  bool is_current = true;
  // For a claim stated in advance: p by Holm's correction over all such claims in the report, and their number.
  double corrected_p = 1.0;
  size_t among = 0;
};

std::vector<Judged> judge_all(const Study& study);

// Over all claims of a report that were stated in advance.
void correct_by_holm(std::vector<std::vector<Judged>>& studies);

// "confirmed"; an exploratory claim never has that word: "exploratory, ...; these runs agree with it".
std::string verdict_text(const Judged& judged);
// "survives (p 0.0025, corrected 0.0076)" for a decided claim stated in advance; empty for others.
std::string correction_text(const Judged& judged);
// The whole sentence.
std::string answer_of(const Judged& judged);

}  // namespace eggroll

#endif
