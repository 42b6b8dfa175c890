#include "site_plan.h"

#include <algorithm>

namespace eggroll::cuda {

BehindProgram::BehindProgram(const egg_program& program, const egg_site& site)
    : values(program.values, program.values + program.value_count), view(program) {
  const OpsOfDraw draw = ops_of_draw(program, site);
  sources = draw.sources;
  caches = draw.cached;
  for (const uint32_t i : draw.ops) ops.push_back(program.ops[i]);
  for (egg_value& each : values) each.is_state = 0;
  for (const egg_op& op : ops) {
    if (op.code == EGG_OP_STORE) values[static_cast<size_t>(op.out)].is_state = 1;
  }
  for (const uint32_t source : sources) values[source].is_state = 1;
  view.values = values.data();
  view.ops = ops.data();
  view.op_count = static_cast<uint32_t>(ops.size());
  view.context = 0;  // no caches: earlier tokens are read where they are kept
}

SitePlan::SitePlan(const egg_session_spec& spec, const std::vector<LoweredParam>& params)
    : population(spec.population), pairs_of_stream(std::max(1U, spec.members_per_stream / 2)) {
  const egg_program& program = *spec.program;
  uint32_t last = 0;
  first_stream = spec.site_count > 0 ? UINT32_MAX : 0;
  const auto keep = [&](int32_t value) {
    const auto same = [&](const KeptValue& k) { return k.value == value; };
    if (std::any_of(kept.begin(), kept.end(), same)) return;
    const egg_value& kind = program.values[value];
    const uint32_t channel = kind.is_wide != 0 ? sizeof(int32_t) : 1;
    kept.push_back({value, padded(static_cast<uint32_t>(kind.size), kBlock) * channel, kept_row});
    kept_row += kept.back().bytes;
  };
  for (uint32_t i = 0; i < spec.site_count; ++i) {
    const SiteShape& site = sites.emplace_back(spec, i);
    first_stream = std::min(first_stream, site.first_stream);
    last = std::max(last, site.first_stream + site.streams);
    is_within.push_back(!is_at_loss(program, site.site.value));
    if (!is_within.back()) {
      keep(site.site.value);
    } else {
      const BehindProgram behind(program, site.site);
      for (const auto& read : {behind.sources, behind.caches}) {
        for (const uint32_t value : read) keep(static_cast<int32_t>(value));
      }
    }
    for (uint32_t p = 0; p < params.size(); ++p) {
      const LoweredParam& param = params[p];
      if (param.voters.site != static_cast<int32_t>(i + 1)) continue;
      SiteVoter voter{p, i, param.rows, param.cols, {}};
      for (const uint32_t k : site.ops) {
        const egg_op& op = program.ops[k];
        if (op.param[param.vector ? 1 : 0] != static_cast<int32_t>(p)) continue;
        voter.reads.push_back(op.code == EGG_OP_LINEAR ? op.in[0] : op.attr);
        if (op.code == EGG_OP_LINEAR) keep(op.in[0]);
      }
      (param.by_lookup ? tables : param.vector ? vectors : matrices).push_back(voter);
    }
  }
  streams = last - first_stream;
  for (uint32_t i = 0; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    if (op.code == EGG_OP_ATTENTION) cached_bytes += cached_bytes_of(program, op);
  }
}

uint32_t SitePlan::cached_bytes_of(const egg_program& program, const egg_op& attention) {
  return 2 * padded(static_cast<uint32_t>(program.values[attention.out].size), kBlock);
}

size_t SitePlan::kept_offset(int32_t value) const {
  const auto same = [&](const KeptValue& k) { return k.value == value; };
  const size_t places = size_t{streams} * (sites.empty() ? 0 : sites.front().tokens);
  return std::find_if(kept.begin(), kept.end(), same)->before * places;
}

uint32_t SitePlan::horizon(const SiteShape& site) const { return std::min(site.site.horizon, site.tokens - 1); }

size_t SitePlan::errors_before(uint32_t site) const {
  size_t errors = 0;
  for (uint32_t i = 0; i < site; ++i) errors += sites[i].places() * error_stride(sites[i]);
  return errors;
}

size_t SitePlan::places_before(uint32_t site) const {
  size_t places = 0;
  for (uint32_t i = 0; i < site; ++i) places += sites[i].places();
  return places;
}

SitePlan::Room SitePlan::Room::after(uint32_t rows, uint32_t cols, size_t its_reads, size_t full) const {
  Room room = *this;
  room.reads += its_reads;
  room.pieces += std::min<size_t>(rows, its_reads) + full;
  room.shared_rows += std::min<size_t>(rows, full);
  room.votes += std::min<size_t>(rows, full) * cols;
  return room;
}

SitePlan::Room SitePlan::room(uint32_t of_population) const {
  const auto scaled = [&](size_t count) {
    return population == 0 ? 0 : (count * of_population + population - 1) / population;
  };
  Room room;
  room.streams = scaled(streams);
  for (const SiteShape& site : sites) {
    room.places += scaled(site.places());
    room.errors += scaled(site.places()) * error_stride(site);
    if (!is_within[site.number]) continue;
    const size_t places = std::min<size_t>(most_places(site), scaled(site.places()));
    const size_t draws = places * 2 * site.site.draws;
    room.draws = std::max(room.draws, draws);
    if (site.site.horizon == 0) continue;
    room.draws_that_go_on = std::max(room.draws_that_go_on, draws);
    room.later_tokens = std::max(room.later_tokens, places * horizon(site));
    room.cached = std::max(room.cached, draws * (1 + horizon(site)) * cached_bytes);
  }
  if (!sites.empty()) room.kept = scaled(size_t{streams} * sites.front().tokens) * kept_row;
  for (const SiteVoter& table : tables) room = room.after(table, scaled(sites[table.site].places()));
  return room;
}

}  // namespace eggroll::cuda
