#include "train/voting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>

#include "eggroll/draws.h"
#include "eggroll/error.h"
#include "eggroll/sites.h"

namespace eggroll {
namespace {

// Whether the name matches the pattern, in which * stands for any text.
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

// By parameter, the group whose list names it; the number of groups if none does.
std::vector<size_t> named_groups_of(const Program& program, const std::vector<PerturbGroup>& groups) {
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
      // A pattern may be meant for other models. If it is misspelt, the parameters that it means are in no group, and
      // that is found.
      if (!is_known && pattern.find('*') == std::string::npos) {
        refuse(
            fmt::format("'{}' of group {} is no parameter of the model, expected names that `eggroll show` prints; "
                        "correct it",
                        pattern, g));
      }
    }
  }
  return found;
}

// The shift of errors at what the loss reads. Refuses draws that would be clipped or leave exponentials of 0.
int32_t shift_at_loss(const egg_site& site, const SiteSettings& settings, int32_t unit) {
  constexpr int64_t kMostBits = 8;  // between the members of a pair
  const int64_t between = int64_t{2} * site.amplitude * unit;
  if (between > kMostBits << 16) {
    refuse(fmt::format("an amplitude of {} moves a logit by {:.3g} bits, expected at most {}; use a smaller one",
                       site.amplitude, static_cast<double>(between) / 2 / 65536, kMostBits / 2));
  }
  if (site.horizon > 0) {
    refuse(
        fmt::format("'{}' is what the loss reads, and has a horizon of {}, expected 0, because it changes no loss "
                    "but its own; leave the horizon out",
                    settings.value, site.horizon));
  }
  // A difference may be twice what is between the members. If all are clipped, they say nothing of any channel.
  if (2 * between > egg_draw_limit(site.draws)) {
    refuse(
        fmt::format("{} draws with an amplitude of {} differ by up to {:.3g} bits, and differences of so many are "
                    "clipped at {:.3g}; use fewer draws, or a smaller amplitude",
                    site.draws, site.amplitude, static_cast<double>(between) / 32768,
                    static_cast<double>(egg_draw_limit(site.draws)) / 65536));
  }
  constexpr int32_t kErrorBits = 14;  // one of the 15 is for what is not linear
  return std::max(0, egg_log2_up(site.draws) + egg_log2_up(static_cast<uint32_t>(between)) - kErrorBits);
}

egg_site site_of(const Program& program, const SiteSettings& settings) {
  const egg_program& view = program.view();
  const egg_op& loss = view.ops[view.op_count - 1];
  egg_site site{};
  site.value = settings.value == "output" ? loss.in[0] : -1;
  for (uint32_t v = 0; v < view.value_count && site.value < 0; ++v) {
    if (view.values[v].name == settings.value) site.value = static_cast<int32_t>(v);
  }
  if (site.value < 0 || maker_of(view, site.value) < 0) {
    refuse(
        fmt::format("'{}' is no value that an op of the model makes, expected one that `eggroll show` prints, or "
                    "output, what the loss reads; correct it",
                    settings.value));
  }
  if (settings.amplitude > EGG_AMPLITUDE_MAX && view.values[site.value].is_wide == 0) {
    refuse(fmt::format("'{}' is an int8 value and has an amplitude of {}, expected at most {}; use a smaller one",
                       settings.value, settings.amplitude, EGG_AMPLITUDE_MAX));
  }
  const auto size = static_cast<uint32_t>(view.values[site.value].size);
  const uint32_t rows = UINT32_C(1) << egg_log2_up(size);
  site.design = settings.orthogonal ? EGG_DRAWS_ORTHOGONAL : EGG_DRAWS_INDEPENDENT;
  site.draws = settings.draws.value_or(rows);
  if (site.draws > (settings.orthogonal ? std::min<uint32_t>(rows, EGG_DRAWS_MAX) : EGG_DRAWS_MAX)) {
    refuse(
        fmt::format("{} draws of '{}' are asked for, and {} orthogonal ones exist, at most {} of them in use; use "
                    "fewer, or orthogonal: false",
                    site.draws, settings.value, rows, EGG_DRAWS_MAX));
  }
  site.amplitude = settings.amplitude;
  site.horizon = settings.horizon;
  int32_t shift = egg_log2_up(site.draws);
  if (is_at_loss(view, site.value)) {
    shift = shift_at_loss(site, settings, loss.attr);
  } else if (site.horizon == 0 && ops_behind(view, site.value, false).ops.empty()) {
    refuse(
        fmt::format("'{}' changes no loss of its own token, only later ones through a state, and has no horizon; set "
                    "its horizon, or choose another value",
                    settings.value));
  }
  site.shift = settings.shift.value_or(shift);
  return site;
}

// Gives a site the parameters of its sum that no list names. group_of: by parameter.
void add_site(const Program& program, const std::string& name, size_t group, size_t groups, Voting& voting,
              std::vector<size_t>& group_of) {
  const egg_program& view = program.view();
  const std::vector<uint32_t> ops = ops_of_sum(view, voting.sites.back().value);
  bool votes = false;
  for (uint32_t i = 0; i < view.param_count; ++i) {
    const auto reads = [&](uint32_t op) {
      return view.ops[op].param[0] == static_cast<int32_t>(i) || view.ops[op].param[1] == static_cast<int32_t>(i);
    };
    if (view.params[i].perturbed == 0 || std::none_of(ops.begin(), ops.end(), reads)) continue;
    if (voting.voters[i].site != 0) {
      refuse(
          fmt::format("parameter '{}' votes with a site already, and enters '{}' too, expected one site; leave one "
                      "out",
                      view.params[i].name, name));
    }
    if (group_of[i] < groups) continue;
    const auto is_looked_up = [&](uint32_t op) { return view.ops[op].code == EGG_OP_EMBED; };
    std::vector<uint32_t> readers;
    std::copy_if(ops.begin(), ops.end(), std::back_inserter(readers), reads);
    if (std::count_if(readers.begin(), readers.end(), is_looked_up) % static_cast<ptrdiff_t>(readers.size()) != 0) {
      refuse(fmt::format(
          "parameter '{}' is looked up and multiplied in '{}', expected one of the two; name it in a group of "
          "params",
          view.params[i].name, name));
    }
    for (uint32_t op = 0; op < view.op_count; ++op) {
      if (!reads(op) || std::find(ops.begin(), ops.end(), op) != ops.end()) continue;
      refuse(
          fmt::format("parameter '{}' enters '{}' and is read elsewhere too, expected one place; name it in a group "
                      "of params",
                      view.params[i].name, name));
    }
    voting.voters[i].site = static_cast<int32_t>(voting.sites.size());
    voting.voters[i].masked = is_table(view, i) ? 1 : 0;
    group_of[i] = group;
    votes = true;
  }
  if (!votes) {
    refuse(
        fmt::format("no parameter votes with '{}', expected tables, matrices or biases that it is a sum of and that no "
                    "list of params names; choose another value",
                    name));
  }
}

}  // namespace

Voting assign_voters(const Program& program, const TrainSettings& train, bool masked,
                     const std::vector<PerturbGroup>& groups) {
  Voting voting;
  const uint32_t pairs = train.population / 2;
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    const bool is_masked = masked && program.params()[i].perturbed != 0 && is_table(program.view(), i);
    voting.voters.push_back({0, pairs, is_masked ? 1 : 0});
  }
  if (groups.empty()) return voting;
  std::vector<size_t> group_of = named_groups_of(program, groups);
  std::vector<size_t> group_of_site;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const SiteSettings& settings : groups[g].sites) {
      voting.sites.push_back(site_of(program, settings));
      if (settings.horizon >= train.tokens) {
        refuse(fmt::format(
            "'{}' has a horizon of {}, expected fewer than the {} tokens of train.tokens; use a smaller one",
            settings.value, settings.horizon, train.tokens));
      }
      group_of_site.push_back(g);
      add_site(program, settings.value, g, groups.size(), voting, group_of);
    }
  }
  for (size_t i = 0; i < group_of.size(); ++i) {
    if (program.params()[i].perturbed == 0 || group_of[i] < groups.size()) continue;
    refuse(fmt::format("parameter '{}' is in no group, expected every perturbed parameter in one group; add it",
                       program.params()[i].name));
  }
  const std::vector<uint32_t> streams = streams_of(train, groups, group_of);
  std::copy_if(streams.begin(), streams.end(), std::back_inserter(voting.group_streams),
               [](uint32_t count) { return count > 0; });
  const auto first_pair = [&](size_t group) {
    const auto first = streams.begin();
    return std::accumulate(first, first + static_cast<ptrdiff_t>(group), uint32_t{0}) * (train.members_per_stream / 2);
  };
  for (size_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] == groups.size()) continue;  // never perturbed
    voting.voters[i].first_pair = first_pair(group_of[i]);
    voting.voters[i].pairs = streams[group_of[i]] * (train.members_per_stream / 2);
  }
  for (size_t i = 0; i < voting.sites.size(); ++i) {
    voting.sites[i].first_pair = first_pair(group_of_site[i]);
    voting.sites[i].pairs = streams[group_of_site[i]] * (train.members_per_stream / 2);
  }
  return voting;
}

}  // namespace eggroll
