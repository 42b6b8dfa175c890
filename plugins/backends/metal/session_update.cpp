// A session's updates: votes, and the rule.
#include <algorithm>
#include <cstring>

#include "session.h"

namespace eggroll::metal {

void MetalSession::update(const egg_update& u) {
  std::copy_n(u.fitness, u.pairs, of<int8_t>(fitness_));
  std::copy_n(u.scalars, spec_.rule->scalar_count, of<float>(scalars_));
  std::copy_n(u.vote_stds, plan_.places.size(), of<float>(vote_stds_));
  std::fill_n(of<uint32_t>(changed_), plan_.places.size(), 0U);
  run_votes(u);
  run_site_votes(u);
  run_rule(u);
  run_masked_votes(u);
  for (const SiteShape& site : plan_.sites.shapes) run_site_rows(u, site);
  std::copy_n(of<uint32_t>(changed_), plan_.places.size(), u.changed);
}

RuleShape MetalSession::rule_shape() const {
  return {spec_.rule->node_count, spec_.rule->slot_count, spec_.rule->delta, memory_.rule_groups};
}

void MetalSession::run_votes(const egg_update& u) {
  const PieceList<VoteJob> vote_jobs = plan_.votes.chosen(u);
  write(vote_jobs_, vote_jobs.jobs);
  VoteArgs votes{};
  votes.noise = noise_args(u.step, 0);
  votes.cells = plan_.cells;
  votes.job_count = static_cast<uint32_t>(vote_jobs.jobs.size());
  votes.pieces = vote_jobs.pieces;
  votes.shares = memory_.vote_shares;
  run_pieces(uint64_t{votes.pieces} * votes.shares, votes_pace_, true, [&](uint32_t first, uint32_t end) {
    votes.first_group = first;
    return run(Kernel::kVotes, end - first, kVoteMemory, votes,
               {{kBindVoteJobs, vote_jobs_.get()},
                {kBindFitness, fitness_.get()},
                {kBindNoise, noise_.get()},
                {kBindVotes, votes_.get()}});
  });
}

void MetalSession::run_rule(const egg_update& u) {
  const PieceList<RuleJob> rule_jobs = plan_.rules.chosen(u);
  write(rule_jobs_, rule_jobs.jobs);
  RuleArgs rule{};
  rule.rule = rule_shape();
  rule.cells = plan_.cells;
  rule.shares = memory_.vote_shares;
  rule.job_count = static_cast<uint32_t>(rule_jobs.jobs.size());
  run_pieces(rule_jobs.pieces, rule_pace_, false, [&](uint32_t first, uint32_t end) {
    rule.first_piece = first;
    rule.end_piece = end;
    return run(Kernel::kRule, rule.rule.groups, 16, rule,
               {{kBindRuleNodes, rule_nodes_.get()},
                {kBindSlotNodes, slot_nodes_.get()},
                {kBindRuleJobs, rule_jobs_.get()},
                {kBindScalars, scalars_.get()},
                {kBindVoteStds, vote_stds_.get()},
                {kBindVotes, votes_.get()},
                {kBindWeights, weights_.get()},
                {kBindHalves, halves_.get()},
                {kBindSlots, slots_.get()},
                {kBindRuleScratch, rule_scratch_.get()},
                {kBindChanged, changed_.get()}});
  });
}

void MetalSession::run_masked_votes(const egg_update& u) {
  std::vector<VotedRow> rows;
  std::vector<PairRange> voters;
  for (uint32_t job = 0; job < plan_.masked.size(); ++job) {
    const uint32_t param = plan_.masked[job].param;
    if (!is_chosen(u, param)) continue;
    find_voters_.find(spec_, param, u);
    for (size_t i = 0; i < find_voters_.size(); ++i) {
      const RowVoters::Row& from = find_voters_.rows()[i];
      VotedRow row{voters.size(), 0, job, from.row, 0};
      std::memcpy(&row.vote_std, &from.vote_std, sizeof(float));
      for (size_t v = from.first_voters; v < find_voters_.rows()[i + 1].first_voters; ++v) {
        const RowVoters::Pairs& pairs = find_voters_.voters()[v];
        voters.push_back({pairs.begin, pairs.end});
        row.pairs += pairs.end - pairs.begin;
      }
      rows.push_back(row);
    }
  }
  if (rows.empty()) return;
  write(voted_rows_, rows);
  reserve(row_voters_, voters.size() * sizeof(PairRange));
  write(row_voters_, voters);
  MaskedArgs args{};
  args.noise = noise_args(u.step, 0);
  args.rule = rule_shape();
  args.ranks = static_cast<uint32_t>(plan_.noise.rank);
  run_pieces(rows.size(), masked_pace_, false, [&](uint32_t first, uint32_t end) {
    args.first_row = first;
    args.end_row = end;
    return run(Kernel::kMasked, args.rule.groups, kMaskedMemory, args,
               {{kBindRuleNodes, rule_nodes_.get()},
                {kBindSlotNodes, slot_nodes_.get()},
                {kBindMaskedJobs, masked_jobs_.get()},
                {kBindScalars, scalars_.get()},
                {kBindVotedRows, voted_rows_.get()},
                {kBindRowVoters, row_voters_.get()},
                {kBindFitness, fitness_.get()},
                {kBindNoise, noise_.get()},
                {kBindWeights, weights_.get()},
                {kBindSlots, slots_.get()},
                {kBindRuleScratch, rule_scratch_.get()},
                {kBindChanged, changed_.get()}});
  });
}

}  // namespace eggroll::metal
