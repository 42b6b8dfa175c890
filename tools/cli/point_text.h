// Texts that tell a sweep's points apart, in rows that are narrower than the points' names.
#ifndef EGGROLL_TOOLS_CLI_POINT_TEXT_H
#define EGGROLL_TOOLS_CLI_POINT_TEXT_H

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/sweep.h"

namespace eggroll {

// The values of a point's axes without their keys, and its seed: "sign_es,512,seed 0".
std::string point_values(const nlohmann::ordered_json& axes, uint64_t seed);

// The texts, each cut in its middle to at most `most` characters; all whole if two would become equal.
std::vector<std::string> cut_apart(const std::vector<std::string>& texts, size_t most);

// Whether none of the texts has more characters.
bool all_fit(const std::vector<std::string>& texts, size_t most);

// The column of what a sweep's points are.
struct WhatColumn {
  std::string heading = "what";
  std::vector<std::string> rows;
  bool fits = true;
};

// In `room` characters: the points' names, or if these are too long, only the values that differ, below their keys.
// Where these are too long as well, the column does not fit and has `room` and `more` characters.
WhatColumn what_column(const std::vector<SweepPoint>& points, size_t room, size_t more);

}  // namespace eggroll

#endif
