// All claims that a sweep ever stated, and which of them its runs came before.
#ifndef EGGROLL_REPORT_CLAIMS_H
#define EGGROLL_REPORT_CLAIMS_H

#include <vector>

#include "report/study.h"

namespace eggroll {

// current: what the sweep, or without it the youngest record, states now. stated: of claims.jsonl. The records carry
// what was stated when they began: of a claim that is in no claims.jsonl, the runs before the first that carries it
// tell how late it came.
std::vector<StudyClaim> claims_of(const Study& study, const nlohmann::ordered_json& current,
                                  const std::vector<StatedClaim>& stated);

}  // namespace eggroll

#endif
