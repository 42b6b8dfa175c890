// Which pairs perturb and vote on each parameter: `perturb.groups` and `votes.masked`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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

// The number of streams that each group gets. The borders between the groups' shares are rounded to whole streams. A
// group without parameters gets none, and the shares of the others grow in proportion. group_of: by parameter.
std::vector<uint32_t> streams_of(const TrainSettings& train, const std::vector<PerturbGroup>& groups,
                                 const std::vector<size_t>& group_of) {
  double share = 0.0;
  for (const PerturbGroup& group : groups) share += group.share;
  if (std::abs(share - 1.0) > 1e-9) {
    refuse(fmt::format("the shares of all groups add up to {}, expected 1; correct them", share));
  }
  const auto is_empty = [&](size_t g) { return std::find(group_of.begin(), group_of.end(), g) == group_of.end(); };
  double whole = 1.0;
  for (size_t g = 0; g < groups.size(); ++g) whole -= is_empty(g) ? groups[g].share : 0.0;
  const uint32_t all = train.population / train.members_per_stream;
  std::vector<uint32_t> streams(groups.size(), 0);
  share = 0.0;
  uint32_t before = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (is_empty(g)) continue;
    share += groups[g].share / whole;
    const auto border = static_cast<uint32_t>(std::lround(std::min(share, 1.0) * all));
    if (border == before) {
      refuse(fmt::format(
          "group {} has none of the {} streams (train.population / train.members_per_stream), expected at least one; "
          "give it a larger share or use more members",
          g, all));
    }
    streams[g] = border - before;
    before = border;
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
      // A pattern may be meant for other models. If it is misspelt, the parameters that it means are in no group, which
      // is found.
      if (!is_known && pattern.find('*') == std::string::npos) {
        refuse(
            fmt::format("'{}' of group {} is no parameter of the model, expected names that `eggroll show` prints; "
                        "correct it",
                        pattern, g));
      }
    }
  }
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].perturbed == 0 || found[i] < groups.size()) continue;
    refuse(fmt::format("parameter '{}' is in no group, expected every perturbed parameter in one group; add it",
                       params[i].name));
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
  const std::vector<size_t> group_of = groups_of(program, groups);
  const std::vector<uint32_t> streams = streams_of(train, groups, group_of);
  std::copy_if(streams.begin(), streams.end(), std::back_inserter(voting.group_streams),
               [](uint32_t count) { return count > 0; });
  for (size_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] == groups.size()) continue;  // never perturbed
    const auto first = streams.begin();
    const uint32_t before = std::accumulate(first, first + static_cast<ptrdiff_t>(group_of[i]), uint32_t{0});
    voting.voters[i].first_pair = before * (train.members_per_stream / 2);
    voting.voters[i].pairs = streams[group_of[i]] * (train.members_per_stream / 2);
  }
  return voting;
}

}  // namespace eggroll
