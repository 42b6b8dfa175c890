// All claims that a sweep ever stated, with the runs that began before each.
#ifndef EGGROLL_REPORT_CLAIMS_H
#define EGGROLL_REPORT_CLAIMS_H

#include <vector>

#include "report/study.h"

namespace eggroll {

// current: what the sweep states now; without a sweep, what the youngest record states. stated: the lines of
// claims.jsonl. A record carries the claims that were stated when its run began. If a claim is in no claims.jsonl, the
// runs before the first one that carries it tell how late it came.
std::vector<StudyClaim> claims_of(const Study& study, const nlohmann::ordered_json& current,
                                  const std::vector<StatedClaim>& stated);

}  // namespace eggroll

#endif
