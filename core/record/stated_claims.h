// claims.jsonl, in the folder of a sweep: a sealed line for each claim, with what was known when it was first stated.
//
// Until a point has begun, every launch writes the file anew. From then on lines are only appended: a claim that is
// reworded is another claim, and the earlier one stays.
#ifndef EGGROLL_RECORD_STATED_CLAIMS_H
#define EGGROLL_RECORD_STATED_CLAIMS_H

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/record.h"

namespace eggroll {

inline constexpr const char* kStatedClaimsName = "claims.jsonl";

// Runs whose numbers may have been known before a claim was stated.
struct Lateness {
  uint64_t begun = 0;  // with those that had ended
  uint64_t ended = 0;
  uint64_t runs = 0;  // all runs at that time
};

struct StatedClaim {
  nlohmann::ordered_json claim = nlohmann::ordered_json::object();  // as claim_from_json() reads it
  std::string stated_utc;
  Lateness late;
};

// The same keys and values, in any order.
bool same_claim(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);
bool holds_claim(const nlohmann::ordered_json& claims, const nlohmann::ordered_json& claim);

// Whether numbers of the run may be known: it runs, or it has done a step.
bool has_begun(const RunRecord& record);

// Counts the run, if it has begun.
void add_run(Lateness& late, const RunRecord& record);

// Empty if there is no file. Throws if a line is damaged; part of a line, as a power cut leaves it, is ignored.
std::vector<StatedClaim> read_stated_claims(const std::filesystem::path& file);

std::string stated_claim_line(const StatedClaim& stated);

}  // namespace eggroll

#endif
