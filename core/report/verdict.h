// A claim judged by the runs of its study.
#ifndef EGGROLL_REPORT_VERDICT_H
#define EGGROLL_REPORT_VERDICT_H

#include <string>
#include <vector>

#include "record/claim.h"
#include "report/study.h"

namespace eggroll {

enum class Outcome { kConfirmed, kRefuted, kUndecided };

struct Verdict {
  Outcome outcome = Outcome::kUndecided;
  std::string finding;       // "mean difference -0.12, 95 % interval -0.15 to -0.09, 10 pairs"
  std::vector<size_t> runs;  // their numbers
};

// Where the runs cannot tell, the finding says why.
Verdict judge(const Claim& claim, const Study& study);

std::string outcome_name(Outcome outcome);

}  // namespace eggroll

#endif
