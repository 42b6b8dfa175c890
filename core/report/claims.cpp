#include "report/claims.h"

#include <algorithm>
#include <tuple>

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// Finds the lateness from the records alone.
Lateness lateness_of(const ordered_json& claim, const Study& study) {
  const auto carries = [&](const StudyRun& run) {
    const auto& sweep = run.run->record.sweep;
    return sweep && holds_claim(sweep->claims, claim);
  };
  std::optional<std::string> first;
  for (const StudyRun& run : study.runs) {
    const std::string& started = run.run->record.started_utc;
    if (carries(run) && (!first || started < *first)) first = started;
  }
  Lateness late;
  late.runs = study.runs.size();
  for (const StudyRun& run : study.runs) {
    const RunRecord& record = run.run->record;
    if (!carries(run) && (!first || record.started_utc <= *first)) add_run(late, record);
  }
  return late;
}

}  // namespace

std::vector<StudyClaim> claims_of(const Study& study, const ordered_json& current,
                                  const std::vector<StatedClaim>& stated) {
  std::vector<StudyClaim> claims;
  const auto add = [&](const ordered_json& claim, bool is_current) {
    const bool is_known = std::any_of(claims.begin(), claims.end(),
                                      [&](const StudyClaim& known) { return same_claim(known.claim, claim); });
    if (!is_known) claims.push_back({claim, is_current, std::nullopt});
  };
  for (const ordered_json& claim : current) add(claim, true);
  for (const StatedClaim& one : stated) add(one.claim, false);
  for (const StudyRun& run : study.runs) {
    const auto& sweep = run.run->record.sweep;
    if (!sweep) continue;
    for (const ordered_json& claim : sweep->claims) add(claim, false);
  }
  for (StudyClaim& claim : claims) {
    const auto line = std::find_if(stated.begin(), stated.end(),
                                   [&](const StatedClaim& one) { return same_claim(one.claim, claim.claim); });
    const Lateness late = line != stated.end() ? line->late : lateness_of(claim.claim, study);
    if (late.begun > 0) claim.late = late;
  }
  const auto place = [](const StudyClaim& claim) {
    return claim.late ? std::tuple(true, claim.late->ended, claim.late->begun) : std::tuple(false, 0UL, 0UL);
  };
  std::stable_sort(claims.begin(), claims.end(),
                   [&](const StudyClaim& a, const StudyClaim& b) { return place(a) < place(b); });
  return claims;
}

}  // namespace eggroll
