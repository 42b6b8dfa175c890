// A session's work on sites: streams that run the unperturbed model, draws at its logits and within, votes with errors.
#include <algorithm>
#include <cstring>

#include "session.h"

namespace eggroll::metal {
namespace {

void put_std(float std, uint32_t& to) { std::memcpy(&to, &std, sizeof(std)); }

}  // namespace

// Each stream is a row. It begins with the states of its first member, and what it leaves is every member's.
void MetalSession::evaluate_streams(const egg_evaluate& e, uint32_t first, uint32_t count) {
  const SitePlan& sites = plan_.sites;
  const uint32_t in_stream = e.members_per_stream;
  const uint32_t in_batch = first / in_stream;
  const uint32_t stream = (e.first + first) / in_stream;  // of the step
  const uint32_t streams = count / in_stream;
  ForwardArgs args = forward_args(e.batch);
  args.op_count = static_cast<uint32_t>(sites.ops.size());
  args.rows = streams;
  args.first_row = in_batch;
  args.first_member = stream - sites.first_stream;
  args.kept_bytes = sites.kept_bytes;
  const size_t stride = plan_.state_stride;
  int8_t* const members = of<int8_t>(states_) + size_t{e.first - spec_.first + first} * stride;
  int8_t* const rows = of<int8_t>(site_states_) + args.first_member * stride;
  for (size_t s = 0; s < streams; ++s) std::copy_n(members + s * in_stream * stride, stride, rows + s * stride);
  run_forward(args, {site_ops_, site_states_, other_site_states_, kept_, streams_pace_});
  for (size_t m = 0; m < count; ++m) std::copy_n(rows + m / in_stream * stride, stride, members + m * stride);
  const uint32_t* const targets = e.batch.targets + size_t{in_batch} * sites.tokens;
  uint8_t* const scored = scored_.data() + size_t{args.first_member} * sites.tokens;
  for (size_t p = 0; p < size_t{streams} * sites.tokens; ++p) scored[p] = targets[p] != EGG_NO_TARGET ? 1 : 0;
  for (const SiteShape& site : sites.shapes) {
    const uint32_t begin = std::max(stream, site.first_stream);
    const uint32_t end = std::min(stream + streams, site.first_stream + site.streams);
    if (begin < end) draw(e, site, begin, end, (begin - stream + in_batch) * site.tokens);
  }
}

void MetalSession::draw(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t end,
                        uint32_t first_target) {
  const uint32_t places = (end - begin) * site.tokens;
  if (is_at_loss(*plan_.program, site.site.value)) {
    draw_at_loss(e, site, begin, places, first_target);
  } else {
    draw_within(e, site, begin, places, first_target);
  }
  egg_site_sums& sums = e.sites[site.number];
  const uint8_t* const scored = scored_.data() + plan_.sites.first_kept(begin);
  const uint8_t* row = of<uint8_t>(errors_) + plan_.sites.first_error(site, begin);
  for (uint32_t p = 0; p < places; ++p) {
    row += SitePlan::error_bytes(site);
    int64_t squares = 0;
    std::memcpy(&squares, row - kSquareBytes, sizeof(squares));
    sums.tokens += scored[p];
    sums.squares += squares;
  }
}

Places MetalSession::places_of(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t first) const {
  return {plan_.noise.seed, e.step, begin, first, site.tokens, site.number};
}

void MetalSession::draw_at_loss(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t places,
                                uint32_t first_target) {
  DrawArgs args{};
  args.places = places_of(e, site, begin, 0);
  args.first_error = plan_.sites.first_error(site, begin);
  args.first_kept = plan_.sites.first_kept(begin);
  args.first_target = first_target;
  args.size = site.size;
  args.log2_n = static_cast<uint32_t>(egg_log2_up(site.size));
  args.draws = site.site.draws;
  args.orthogonal = site.site.design == EGG_DRAWS_ORTHOGONAL ? 1 : 0;
  args.amplitude = site.site.amplitude;
  args.unit = plan_.program->ops[plan_.program->op_count - 1].attr;
  args.shift = site.site.shift;
  args.logits = plan_.sites.kept_offset(site.site.value);
  args.kept_bytes = plan_.sites.kept_bytes;
  args.error_bytes = SitePlan::error_bytes(site);
  const uint32_t of_place = static_cast<uint32_t>(sizeof(int32_t)) << (args.log2_n + (args.orthogonal != 0 ? 0 : 1));
  args.at_once = std::min(kSimdgroups, kThreadgroupMemory / of_place);
  const uint32_t scratch = padded(args.at_once * of_place, 16);
  run_pieces(divide_up(places, args.at_once), draws_pace_, true, [&](uint32_t first, uint32_t last) {
    args.first = first * args.at_once;
    args.end = std::min(places, last * args.at_once);
    return run(Kernel::kDraws, last - first, scratch, args,
               {{kBindLossTables, loss_tables_.get()},
                {kBindTargets, targets_.get()},
                {kBindKept, kept_.get()},
                {kBindErrors, errors_.get()}});
  });
}

// Each draw's two members are rows of a forward pass, which begins at the value. So many places at once as there is
// room for what their members keep.
void MetalSession::draw_within(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t places,
                               uint32_t first_target) {
  const uint32_t orthogonal = site.site.design == EGG_DRAWS_ORTHOGONAL ? 1 : 0;
  const uint32_t row_mask = (1U << egg_log2_up(site.size)) - 1;
  const DrawPlan& draws = plan_.sites.draws[site.number];
  for (uint32_t first = 0; first < places; first += draws.most_places) {
    const uint32_t here = std::min(draws.most_places, places - first);
    ForwardArgs args = forward_args(e.batch);
    args.op_count = static_cast<uint32_t>(draws.ops.size());
    args.place_ops = draws.place_ops;
    args.tokens = draws.tokens;
    args.members_per_stream = 2 * site.site.draws;
    args.rows = here * args.members_per_stream;
    args.first_entry = first_target + first;
    args.state_stride = draws.record_bytes;
    args.kept_bytes = plan_.sites.kept_bytes;
    args.move = {places_of(e, site, begin, first), plan_.sites.first_kept(begin) + first, orthogonal, row_mask,
                 site.site.amplitude};
    run_forward(args, {draw_ops_[site.number], draw_states_, other_draw_states_, kept_, within_pace_});
    SiteErrorArgs errors{};
    errors.places = args.move.places;
    errors.error_bytes = SitePlan::error_bytes(site);
    errors.first_error = plan_.sites.first_error(site, begin) + size_t{first} * errors.error_bytes;
    errors.first_target = args.first_entry;
    errors.size = site.size;
    errors.row_mask = row_mask;
    errors.draws = site.site.draws;
    errors.orthogonal = orthogonal;
    errors.shift = site.site.shift;
    errors.record_bytes = draws.record_bytes;
    run_pieces(divide_up(here, kSimdgroups), site_errors_pace_, true, [&](uint32_t group, uint32_t last) {
      errors.first = group * kSimdgroups;
      errors.end = std::min(here, last * kSimdgroups);
      return run(Kernel::kSiteErrors, last - group, 16, errors,
                 {{kBindTargets, targets_.get()}, {kBindStates, draw_states_.get()}, {kBindErrors, errors_.get()}});
    });
  }
}

// Matrices and vectors: their votes, and the deviations that follow from the inputs' squares, in double precision.
void MetalSession::run_site_votes(const egg_update& u) {
  make_site_votes(u);
  add_votes_of_others();
  find_site_stds(u);
}

// Makes the votes of the session's own streams.
void MetalSession::make_site_votes(const egg_update& u) {
  const PieceList<SiteVoteJob> jobs = plan_.sites.votes.chosen(u);
  write(site_vote_jobs_, jobs.jobs);
  SiteVoteArgs args{};
  args.cells = plan_.cells;
  args.job_count = static_cast<uint32_t>(jobs.jobs.size());
  args.pieces = jobs.pieces;
  args.shares = memory_.vote_shares;
  args.kept_bytes = plan_.sites.kept_bytes;
  run_pieces(uint64_t{args.pieces} * args.shares, site_votes_pace_, true, [&](uint32_t first, uint32_t end) {
    args.first_group = first;
    return run(Kernel::kSiteVotes, end - first, kSiteVoteMemory, args,
               {{kBindVoteJobs, site_vote_jobs_.get()},
                {kBindKept, kept_.get()},
                {kBindErrors, errors_.get()},
                {kBindVotes, votes_.get()}});
  });
}

// To those of the first share and of the first op that reads the parameter.
void MetalSession::add_votes_of_others() {
  auto* const votes = of<int64_t>(votes_);
  for (const SiteVoter& voter : plan_.sites.voters) {
    if (others_.empty() || others_[voter.site].empty()) continue;
    const SummedVoter& summed = plan_.sites.shapes[voter.site].summed_voter(voter.param);
    const std::vector<int64_t>& others = others_[voter.site];
    int64_t* to = votes + plan_.places[voter.param].cells;
    for (size_t i = summed.first_vote; i < summed.first_square(); ++i) *to++ += others[i];
    to = votes + voter.squares;
    for (size_t i = summed.first_square(); i < summed.end(); ++i) *to++ += others[i];
  }
  others_.clear();
}

void MetalSession::get_site_part(const egg_site_part& part) {
  const SitePlan& sites = plan_.sites;
  const SiteShape& site = sites.shapes[part.site];
  if (part.errors != nullptr) {
    const uint8_t* row = of<uint8_t>(errors_) + sites.first_error(site, part.first_stream);
    const size_t places = size_t{part.streams} * site.tokens;
    for (size_t p = 0; p < places; ++p, row += SitePlan::error_bytes(site)) {
      std::memcpy(part.errors + p * site.size, row, site.size * sizeof(int16_t));
    }
    std::copy_n(scored_.data() + sites.first_kept(part.first_stream), places, part.perturbed);
  }
  if (part.votes == nullptr) return;
  make_site_votes(egg_update{});  // of all parameters
  std::fill_n(part.votes, site.votes(), int64_t{0});
  for (const SiteVoter& voter : sites.voters) {
    if (voter.site != part.site) continue;
    const SummedVoter& summed = site.summed_voter(voter.param);
    const auto add = [&](size_t cells, size_t count, int64_t* to) {
      for (size_t s = 0; s < memory_.vote_shares; ++s) {
        const int64_t* from = of<int64_t>(votes_) + s * plan_.cells + cells;
        for (size_t i = 0; i < voter.reads * count; ++i) to[i % count] += from[i];
      }
    };
    add(plan_.places[voter.param].cells, summed.first_square() - summed.first_vote, part.votes + summed.first_vote);
    if (voter.columns > 0) add(voter.squares, voter.columns, part.votes + summed.first_square());
  }
}

void MetalSession::add_site_part(const egg_site_part& part) {
  const SitePlan& sites = plan_.sites;
  const SiteShape& site = sites.shapes[part.site];
  if (part.errors != nullptr) {
    uint8_t* row = of<uint8_t>(errors_) + sites.first_error(site, part.first_stream);
    const size_t places = size_t{part.streams} * site.tokens;
    for (size_t p = 0; p < places; ++p, row += SitePlan::error_bytes(site)) {
      std::memcpy(row, part.errors + p * site.size, site.size * sizeof(int16_t));
    }
    std::copy_n(part.perturbed, places, scored_.data() + sites.first_kept(part.first_stream));
  }
  if (part.votes == nullptr) return;
  others_.resize(sites.shapes.size());
  others_[part.site].resize(site.votes());
  for (size_t i = 0; i < site.votes(); ++i) others_[part.site][i] += part.votes[i];
}

void MetalSession::find_site_stds(const egg_update& u) {
  const auto* votes = of<int64_t>(votes_);
  for (const SiteVoter& voter : plan_.sites.voters) {
    if (!is_chosen(u, voter.param)) continue;
    const egg_site_sums& sums = u.sites[voter.site];
    const double moment = error_moment(sums, static_cast<int32_t>(plan_.sites.shapes[voter.site].size));
    uint32_t* const stds = of<uint32_t>(vote_stds_) + voter.std;
    for (uint32_t c = 0; c < std::max(1U, voter.columns); ++c) {
      int64_t squares = 0;
      if (voter.columns == 0) squares = static_cast<int64_t>(sums.tokens * voter.reads);
      for (uint32_t s = 0; s < memory_.vote_shares && voter.columns != 0; ++s) {
        const int64_t* const of_share = votes + s * plan_.cells + voter.squares + c;
        for (size_t r = 0; r < voter.reads; ++r) squares += of_share[r * voter.columns];
      }
      stds[c] = kStays;
      if (squares > 0) put_std(site_vote_std(squares, moment), stds[c]);
    }
  }
}

// Lists the rows of the site's tables that places read. Rows with many reads come last and are cut into pieces.
MetalSession::SiteRows MetalSession::list_site_rows(const egg_update& u, const SiteShape& site) {
  auto* const reads = of<uint32_t>(site_reads_);
  auto* const pieces = of<VotedRow>(site_pieces_);
  const double moment = error_moment(u.sites[site.number], static_cast<int32_t>(site.size));
  std::vector<VotedRow> rows;
  std::vector<VotedRow> cut;
  uint32_t read_count = 0;
  uint32_t piece_count = 0;
  for (uint32_t t = 0; t < plan_.sites.tables.size(); ++t) {
    const SiteTable& table = plan_.sites.tables[t];
    if (table.site != site.number || !is_chosen(u, table.job.param)) continue;
    list_reads(table, site, u.batch);
    for (size_t begin = 0, end = 0; begin < reads_.size(); begin = end) {
      VotedRow row{read_count, 0, t, reads_[begin].row, 0};
      for (end = begin; end < reads_.size() && reads_[end].row == row.row; ++end)
        reads[read_count++] = reads_[end].place;
      row.pairs = static_cast<uint32_t>(end - begin);
      put_std(site_vote_std(row.pairs, moment), row.vote_std);
      if (row.pairs <= kSitePiece) {
        rows.push_back(row);
        continue;
      }
      VotedRow piece = row;
      row.first_voters = piece_count;
      for (uint32_t left = row.pairs; left > 0; left -= piece.pairs, piece.first_voters += piece.pairs) {
        piece.pairs = std::min(kSitePiece, left);
        pieces[piece_count++] = piece;
      }
      row.pairs = piece_count - static_cast<uint32_t>(row.first_voters);
      cut.push_back(row);
    }
  }
  const auto first_cut = static_cast<uint32_t>(rows.size());
  rows.insert(rows.end(), cut.begin(), cut.end());
  write(site_rows_, rows);
  return {static_cast<uint32_t>(rows.size()), first_cut, piece_count};
}

void MetalSession::run_site_rows(const egg_update& u, const SiteShape& site) {
  const SiteRows list = list_site_rows(u, site);
  const uint64_t first_error = plan_.sites.first_error(site, site.first_stream);
  const uint32_t stride = padded(site.size, kBlock);
  const uint32_t error_bytes = SitePlan::error_bytes(site);
  run_pieces(list.pieces, site_pieces_pace_, true, [&](uint32_t first, uint32_t end) {
    const SitePieceArgs args{first_error, first, end, stride, error_bytes};
    return run(Kernel::kSitePieces, divide_up(end - first, kSimdgroups), 16, args,
               {{kBindVotedRows, site_pieces_.get()},
                {kBindRowVoters, site_reads_.get()},
                {kBindErrors, errors_.get()},
                {kBindVotes, piece_votes_.get()}});
  });
  run_pieces(list.rows, site_rows_pace_, false, [&](uint32_t first, uint32_t end) {
    const SiteRowArgs args{rule_shape(), first_error, first, end, list.first_cut, stride, error_bytes};
    return run(Kernel::kSiteRows, args.rule.groups, 16, args,
               {{kBindRuleNodes, rule_nodes_.get()},
                {kBindSlotNodes, slot_nodes_.get()},
                {kBindMaskedJobs, site_tables_.get()},
                {kBindScalars, scalars_.get()},
                {kBindVotedRows, site_rows_.get()},
                {kBindRowVoters, site_reads_.get()},
                {kBindErrors, errors_.get()},
                {kBindVotes, piece_votes_.get()},
                {kBindWeights, weights_.get()},
                {kBindSlots, slots_.get()},
                {kBindRuleScratch, rule_scratch_.get()},
                {kBindChanged, changed_.get()}});
  });
}

// Leaves in reads_ who reads which row of a table, by row.
void MetalSession::list_reads(const SiteTable& table, const SiteShape& site, const egg_batch& batch) {
  const uint8_t* const scored = scored_.data() + plan_.sites.first_kept(site.first_stream);
  const size_t in_batch = size_t{site.first_stream} * site.tokens;
  reads_.clear();
  for (const int32_t index : table.reads) {
    const size_t stride = index == 0 ? 1 : plan_.program->index_count;
    const uint32_t* const from = (index == 0 ? batch.inputs : batch.rows + (index - 1)) + in_batch * stride;
    for (uint32_t p = 0; p < site.places(); ++p) {
      const uint32_t row = from[p * stride];
      if (scored[p] != 0 && row != EGG_NO_ROW) reads_.push_back({row, p});
    }
  }
  sort_by_row(reads_, sorted_reads_, table.job.count / table.job.cols, [](const SiteRead& read) { return read.row; });
}

}  // namespace eggroll::metal
