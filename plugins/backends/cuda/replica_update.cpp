// A replica's part of an update: votes, and the rule.
#include <algorithm>
#include <mutex>

#include "eggroll/noise.h"
#include "eggroll/row_voters.h"
#include "replica.h"

namespace eggroll::cuda {

// Sends the fitness of the pairs that this device votes for, each share with zeros up to whole tiles. Returns the
// largest magnitude.
int32_t Replica::send_fitness(const int8_t* fitness) {
  own_fitness_.resize(voted_.rows_at + padded(voted_.on_rows.count, kTilePairs));
  std::mutex taking_part;
  uint8_t most = 0;
  const auto put = [&](Share share, size_t at) {
    int8_t* const to = own_fitness_.data() + at;
    std::fill(to + share.count, to + padded(share.count, kTilePairs), int8_t{0});
    threads_.split(share.count, kFewestElements, [&](size_t begin, size_t end) {
      const int8_t* const from = fitness + share.first;
      std::copy(from + begin, from + end, to + begin);
      uint8_t most_here = 0;  // unsigned: the compiler makes such a loop wide
      for (size_t k = begin; k < end; ++k) {
        const auto magnitude = static_cast<uint8_t>(from[k] < 0 ? -from[k] : from[k]);
        most_here = std::max(most_here, magnitude);
      }
      const std::lock_guard lock(taking_part);
      most = std::max(most, most_here);
    });
  };
  if (voted_.rows_at > 0) put(voted_.dense, 0);
  put(voted_.on_rows, voted_.rows_at);
  fitness_.send(own_fitness_.data(), own_fitness_.size(), stream_, threads_);
  return most;
}

// The pairs whose votes on rows of tables, or on all else, are made here: those of sites have none.
Replica::Share Replica::voting_pairs(const egg_update& u, bool on_rows) const {
  uint32_t begin = u.pairs;
  uint32_t end = 0;
  for (const LoweredParam& param : own_.plan.params) {
    if (!param.perturbed || param.voters.site != 0 || param.masked != on_rows) continue;
    begin = std::min(begin, param.voters.first_pair);
    end = std::max(end, param.voters.first_pair + param.voters.pairs);
  }
  const bool all = on_rows && own_.owners > 1;
  begin = std::max(begin, all ? 0 : std::min(own_.first_vote_pair, u.pairs));
  end = std::min({end, all ? u.pairs : own_.first_vote_pair + own_.vote_pairs, u.pairs});
  return {begin, end > begin ? end - begin : 0};
}

Replica::Share Replica::united(Share a, Share b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const uint32_t first = std::min(a.first, b.first);
  return {first, std::max(a.first + a.count, b.first + b.count) - first};
}

void Replica::vote_async(const egg_update& u) {
  activate();
  choose(u);
  const bool is_alone = own_.owners == 1;
  const Share dense = voting_pairs(u, false);
  const Share rows = voting_pairs(u, true);
  voted_ = {dense, rows, padded(dense.count, kTilePairs)};
  if (is_alone) {
    const Share both = united(dense, rows);
    voted_ = {both, both, 0};
  }
  const int32_t most_fitness = send_fitness(u.fitness);
  votes_.zero(stream_, own_.memory.votes - own_.memory.masked_votes);
  const uint32_t most_pairs = own_.memory.noise_tiles * kTilePairs;
  const auto each_piece_of = [&](Share share, const auto& body) {
    for (uint32_t done = 0; done < share.count; done += most_pairs) {
      body(share.first + done, std::min(most_pairs, share.count - done));
    }
  };
  bool has_sent = false;
  bool has_listed = false;
  const auto vote_on_rows = [&](uint32_t first, uint32_t pairs) {
    if (row_tables_.count == 0) return;
    if (!has_listed) {
      clear_rows();
      list_streams(u);
    }
    has_listed = true;
    if (own_.memory.keeps_row_votes) make_row_votes(first, pairs);
  };
  each_piece_of(voted_.dense, [&](uint32_t first, uint32_t pairs) {
    make_votes(u, first, pairs, most_fitness);
    if (!has_sent) send_numbers(u);
    has_sent = true;
    if (is_alone) vote_on_rows(first, pairs);
  });
  if (!has_sent) send_numbers(u);
  if (!is_alone) {
    each_piece_of(voted_.on_rows, [&](uint32_t first, uint32_t pairs) {
      make_noise_of_tables(u, first, pairs);
      vote_on_rows(first, pairs);
    });
  }
  if (!has_listed) clear_rows();
  vote_by_sites(u);
  check(cudaEventRecord(votes_made_, stream_), "gather votes");
}

// The pairs of others too.
void Replica::make_noise_of_tables(const egg_update& u, uint32_t first_pair, uint32_t pairs) {
  if (table_part_count_ == 0 || noise().has(u.step, first_pair, pairs)) return;
  launch_noise(noise_args(vote_parts_.get(), table_part_count_, u.step, first_pair, pairs, noise().values.get()),
               stream_);
  noise().pairs = 0;
}

// Clears the votes on rows of masked tables, and the counts of their lists.
void Replica::clear_rows() {
  if (own_.memory.keeps_row_votes) launch_clear_rows(row_tables_, stream_);
  piece_votes_.zero(stream_, piece_vote_count_);
  row_counters_.zero(stream_);
}

// By table: draw_variance, with the squares added up once for tables that have the same voters.
std::vector<double> Replica::row_variances(const egg_update& u) const {
  std::vector<double> variances;
  egg_voters known{};
  int64_t squares = 0;
  for (const uint32_t param : row_params_) {
    const egg_voters& voters = own_.plan.params[param].voters;
    if (voters.first_pair != known.first_pair || voters.pairs != known.pairs) squares = squares_of(voters, u.fitness);
    known = voters;
    variances.push_back(draw_variance(squares, own_.plan.noise, voters));
  }
  return variances;
}

// Sends what tables and the rule need beside votes. It uses another stream: on that of the votes these copies would
// wait for the next batch, which may be large.
void Replica::send_numbers(const egg_update& u) {
  const std::vector<double> variances = row_variances(u);
  row_variances_.upload(variances.data(), variances.size(), sending_);
  scalars_.upload(u.scalars, rule_->scalar_count, sending_);
  vote_stds_.upload(u.vote_stds, params_.size(), sending_);
  check(cudaEventRecord(numbers_sent_, sending_), "receive data");
  check(cudaStreamWaitEvent(stream_, numbers_sent_), "receive data");
}

// Votes of all parameters but masked tables.
void Replica::make_votes(const egg_update& u, uint32_t first_pair, uint32_t pairs, int32_t most_fitness) {
  const Plan& plan = own_.plan;
  const NoiseArgs drawn =
      noise_args(vote_parts_.get(), vote_part_count_, u.step, first_pair, pairs, noise().values.get());
  if (!noise().has(u.step, first_pair, pairs)) {
    launch_noise(drawn, stream_);
    noise().pairs = 0;
  }
  const auto votes_of = [&](const Jobs<VoteJob>& jobs) {
    return VoteArgs{drawn.out,       drawn.tile_bytes,
                    drawn.places,    drawn.values,
                    drawn.seed,      drawn.step,
                    first_pair,      pairs,
                    drawn.tiles,     fitness_.get() + (first_pair - voted_.dense.first),
                    most_fitness,    static_cast<uint32_t>(plan.noise.rank),
                    jobs.on_device()};
  };
  launch_matrix_votes(votes_of(matrix_votes_), stream_);
  launch_vector_votes(votes_of(vector_votes_), stream_);
}

// Lists the streams of the pairs whose votes on rows are made here, by the rows that they read.
void Replica::list_streams(const egg_update& u) {
  ReadArgs args{};
  args.tables = row_tables_;
  args.readers = readers_.get();
  args.first_pair = voted_.on_rows.first;
  args.pairs = voted_.on_rows.count;
  args.first_stream = args.first_pair / stream_pairs_;
  args.streams = (args.first_pair + args.pairs - 1) / stream_pairs_ + 1 - args.first_stream;
  args.stream_pairs = stream_pairs_;
  args.tokens = u.batch.tokens;
  args.index_count = own_.plan.program->index_count;
  // Sites read from the first stream on.
  const bool is_all = !own_.plan.sites.sites.empty();
  send_now(u.batch, is_all ? 0 : args.first_stream, is_all ? u.batch.streams : args.streams, Sent::kInputs);
  const size_t before = is_all ? size_t{args.first_stream} * args.tokens : 0;
  args.inputs = batch_place().inputs.get() + before;
  args.row_numbers = batch_place().row_numbers.get() + before * args.index_count;
  args.ranks = static_cast<uint32_t>(own_.plan.noise.rank);
  args.variances = row_variances_.get();
  args.most = piece_pairs(args.ranks);
  args.owner = own_.owner;
  args.owners = own_.owners;
  launch_list_streams(args, stream_);
  listed_ = {args.first_pair, args.pairs, args.first_stream};
}

// Votes of masked tables; their noise is there.
void Replica::make_row_votes(uint32_t first_pair, uint32_t pairs) {
  const Plan& plan = own_.plan;
  RowVoteArgs args{};
  args.tables = row_tables_;
  args.noise = noise().values.get();
  args.tile_bytes = plan.layout.bytes * kTilePairs;
  args.places = plan.fused ? fused_places_.get() : nullptr;
  args.values = values_of_noise_;
  args.ranks = static_cast<uint32_t>(plan.noise.rank);
  args.first_pair = first_pair;
  args.pairs = pairs;
  args.fitness = fitness_.get() + voted_.rows_at + (first_pair - voted_.on_rows.first);
  args.first_stream = listed_.first_stream;
  args.stream_pairs = stream_pairs_;
  launch_row_votes(args, rule_args(), stream_);
}

void Replica::apply_rule_async() {
  activate();
  const MemoryPlan& memory = own_.memory;
  changed_.zero(stream_);
  if (!replicas_.empty()) {
    const VoteParts parts{votes_of_.get(), static_cast<uint32_t>(replicas_.size()), all_votes_.get()};
    for (const Replica* replica : replicas_)
      check(cudaStreamWaitEvent(stream_, replica->votes_made_), "wait for votes");
    launch_sum_votes(parts, memory.counts, stream_);
  }
  if (memory.keeps_row_votes) {
    find_rows();
  } else if (row_tables_.count > 0) {
    make_row_votes(listed_.first_pair, listed_.pairs);
  }
  launch_rule(rule_args(), stream_);
  apply_rule_by_sites();
  check(cudaEventRecord(rows_made_, stream_), "update the weights");
}

void Replica::end_update_async() {
  activate();
  if (own_.owners > 1) take_rows();
  launch_forms(forms_.on_device(), 0, forms_.pieces, stream_);
  changed_.download(host_changed_.get(), params_.size(), stream_);
  check(cudaEventRecord(updated_, stream_), "update the weights");
  // While the host is at work between two steps. Where it comes in pieces, the first would push out the last.
  for (Noise& each : noises_) each.with_vectors = false;
  const Noise& made = noise();
  if (made.pairs > 0 && made.pairs == members() / 2) make_noise(made.step + 1, made.first_pair, made.pairs, stream_);
}

// Few rows of masked tables have votes: the counts say which.
void Replica::find_rows() {
  launch_find_rows(row_tables_, row_variances_.get(), static_cast<uint32_t>(own_.plan.noise.rank), stream_);
}

RuleArgs Replica::rule_args() const {
  const RulePlan& plan = own_.plan.rule;
  RuleArgs rule{};
  rule.nodes = rule_nodes_.get();
  rule.node_count = static_cast<uint32_t>(plan.nodes.size());
  rule.constants = plan.constants;
  rule.places = plan.places;
  rule.slot_places = slot_places_.get();
  rule.slot_count = rule_->slot_count;
  rule.delta_place = plan.delta_place;
  rule.scalars = scalars_.get();
  rule.vote_stds = vote_stds_.get();
  rule.changed = changed_.get();
  rule.scratch = rule_scratch_.get();
  rule.list = rule_jobs_.on_device();
  rule.tables = row_tables_.tables;
  rule.table_count = row_tables_.count;
  return rule;
}

void Replica::finish_update(const egg_update& u) {
  activate();
  static_assert(sizeof(unsigned long long) == sizeof(int64_t));
  check(cudaEventSynchronize(updated_), "update the weights");
  const unsigned long long* changed = host_changed_.get();
  for (uint32_t i = 0; i < params_.size(); ++i) {
    const int64_t before = own_.owner > 0 && shares_rows(i) ? u.changed[i] : 0;
    u.changed[i] = before + static_cast<int64_t>(changed[i]);
  }
}

}  // namespace eggroll::cuda
