// Which pairs perturb and vote on each parameter: `perturb.groups` and `votes.masked`.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string_view>

#include "eggroll/error.h"
#include "train/setup.h"

namespace eggroll {
namespace {

// Whether the name is what the pattern says; * stands for any text.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() != '*') {
    return !name.empty() && name.front() == pattern.front() && matches(pattern.substr(1), name.substr(1));
  }
  return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
}

[[noreturn]] void refuse(const std::string& text) { throw setting_error("groups", text); }

// Streams of each group: the borders between shares, rounded to whole streams.
std::vector<uint32_t> streams_of(const TrainSettings& train, const std::vector<PerturbGroup>& groups) {
  const uint32_t all = train.population / train.group;
  std::vector<uint32_t> streams;
  double share = 0.0;
  uint32_t before = 0;
  for (const PerturbGroup& group : groups) {
    share += group.share;
    const auto border = static_cast<uint32_t>(std::lround(std::min(share, 1.0) * all));
    if (border == before) {
      refuse(
          fmt::format("group {} has none of the {} streams (train.population / train.group), expected at least one; "
                      "give it a larger share or use more members",
                      streams.size(), all));
    }
    streams.push_back(border - before);
    before = border;
  }
  if (std::abs(share - 1.0) > 1e-9) {
    refuse(fmt::format("the shares of all groups add up to {}, expected 1; correct them", share));
  }
  return streams;
}

// By parameter, the group that perturbs it.
std::vector<size_t> groups_of(const Program& program, const std::vector<PerturbGroup>& groups) {
  const std::vector<egg_param>& params = program.params();
  std::vector<size_t> found(params.size(), groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const std::string& pattern : groups[g].params) {
      bool is_known = false;
      for (size_t i = 0; i < params.size(); ++i) {
        if (!matches(pattern, params[i].name)) continue;
        is_known = true;
        if (found[i] < g) {
          refuse(fmt::format("parameter '{}' is in the groups {} and {}, expected one; name it once", params[i].name,
                             found[i], g));
        }
        found[i] = g;
      }
      if (!is_known) {
        refuse(
            fmt::format("'{}' of group {} is no parameter of the model, expected names that `eggroll show` prints; "
                        "correct it",
                        pattern, g));
      }
    }
  }
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].perturbed == 0 || found[i] < groups.size()) continue;
    refuse(fmt::format("parameter '{}' is in no group, expected every perturbed one in one; add it", params[i].name));
  }
  return found;
}

}  // namespace

Voting assign_voters(const Program& program, const TrainSettings& train, bool masked,
                     const std::vector<PerturbGroup>& groups) {
  Voting voting;
  const uint32_t pairs = train.population / 2;
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    const bool is_masked = masked && program.params()[i].perturbed != 0 && is_table(program.view(), i);
    voting.voters.push_back({0, pairs, is_masked ? 1 : 0, 0});
  }
  if (groups.empty()) return voting;
  voting.group_streams = streams_of(train, groups);
  const std::vector<size_t> group_of = groups_of(program, groups);
  for (size_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] == groups.size()) continue;  // never perturbed
    const auto first = voting.group_streams.begin();
    const uint32_t before = std::accumulate(first, first + static_cast<ptrdiff_t>(group_of[i]), uint32_t{0});
    voting.voters[i].first_pair = before * (train.group / 2);
    voting.voters[i].pairs = voting.group_streams[group_of[i]] * (train.group / 2);
  }
  return voting;
}

}  // namespace eggroll
