#include "record/stated_claims.h"

#include <algorithm>

#include "record/fields.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {

void fields(auto& list, Either<StatedClaim> auto& stated) {
  list("stated_utc", stated.stated_utc);
  list("begun", stated.late.begun);
  list("ended", stated.late.ended);
  list("points", stated.late.runs);
  list("claim", stated.claim);
}

namespace {

using nlohmann::ordered_json;

constexpr const char* kClaimsCure = "restore it from a copy";

// The claim with its keys sorted and without "exploratory": false, which means the same as no such key.
nlohmann::json sorted(const ordered_json& claim) {
  nlohmann::json result = claim;
  if (result.is_object() && result.value("exploratory", nlohmann::json()) == false) result.erase("exploratory");
  return result;
}

}  // namespace

bool same_claim(const ordered_json& a, const ordered_json& b) { return sorted(a) == sorted(b); }

bool holds_claim(const ordered_json& claims, const ordered_json& claim) {
  return std::any_of(claims.begin(), claims.end(), [&](const ordered_json& one) { return same_claim(one, claim); });
}

bool has_begun(const RunRecord& record) { return record.status == RunStatus::kRunning || record.steps > 0; }

void add_run(Lateness& late, const RunRecord& record) {
  if (!has_begun(record)) return;
  ++late.begun;
  if (record.status != RunStatus::kRunning) ++late.ended;
}

std::vector<StatedClaim> read_stated_claims(const std::filesystem::path& file) {
  std::vector<StatedClaim> claims;
  if (!is_there(file)) return claims;
  const std::string text = read_file(file, Links::kRefused);
  each_sealed_line(file, text, kClaimsCure, [&](const ordered_json& line, const std::string& what) {
    read_members(what, kClaimsCure, [&] { claims.push_back(read_fields<StatedClaim>(line)); });
  });
  return claims;
}

std::string stated_claim_line(const StatedClaim& stated) { return sealed_line(field_json(stated, "claim")) + "\n"; }

}  // namespace eggroll
