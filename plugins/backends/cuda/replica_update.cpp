#include "replica_update.h"

#include <algorithm>
#include <mutex>

#include "eggroll/backend.h"

namespace eggroll::cuda {
namespace {

Range united(Range a, Range b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const uint32_t first = std::min(a.first, b.first);
  return {first, std::max(a.first + a.count, b.first + b.count) - first};
}

}  // namespace

ReplicaUpdate::ReplicaUpdate(ReplicaDevice& device, ReplicaWeights& weights, ReplicaNoise& noise, ReplicaBatch& batch,
                             const ReplicaForward& forward)
    : ReplicaPart(device),
      weights_(weights),
      noise_(noise),
      batch_(batch),
      forward_(forward),
      host_changed_(weights.params().size()) {
  rows_.voted_rows = take(Area::kVotedRows);
  rows_.counters = take(Area::kRowCounters);
  site_rows_.voted_rows = take(Area::kSiteVotedRows);
  site_rows_.counters = take(Area::kSiteCounters);
  site_rows_.places = take(Area::kSiteReadPlaces);
  site_rows_.streams = take(Area::kSiteReadTokens);
  site_rows_.pieces = take(Area::kSitePieces);
  site_rows_.votes = take(Area::kSiteVotes);
}

void ReplicaUpdate::read_votes_of(const std::vector<const ReplicaUpdate*>& replicas) {
  if (!own_.shares_votes) return;
  device_.activate();
  replicas_ = replicas;
  std::vector<const long long*> votes;
  for (const ReplicaUpdate* replica : replicas) {
    votes.push_back(replica->votes_.get());
    const int other = replica->own_.device;
    if (other == own_.device) continue;
    // Access is a property of that device's pool, which owns its memory.
    const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, own_.device}, cudaMemAccessFlagsProtReadWrite};
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, other), "give its pool of memory");
    check(cudaMemPoolSetAccess(pool, &access, 1), "let another GPU read its memory");
  }
  votes_of_ = take(Area::kVotesOf, votes);
}

// Makes the jobs of an update, unless the last one's are the same.
void ReplicaUpdate::choose(const egg_update& u) {
  std::vector<bool> chosen;
  for (uint32_t i = 0; i < weights_.params().size(); ++i) {
    chosen.push_back(weights_[i].perturbed && is_chosen(u, i));
  }
  const uint32_t stream_pairs = u.members_per_stream / 2;
  const bool reads_alike =
      streams_read_ == u.batch.streams && tokens_read_ == u.batch.tokens && stream_pairs_ == stream_pairs;
  if (is_made_ && chosen == chosen_ && reads_alike) return;
  is_made_ = false;
  chosen_ = std::move(chosen);
  streams_read_ = u.batch.streams;
  tokens_read_ = u.batch.tokens;
  stream_pairs_ = stream_pairs;
  matrix_votes_ = {};
  vector_votes_ = {};
  rule_jobs_ = {};
  const DeviceArray<long long>& votes = own_.shares_votes ? all_votes_ : votes_;
  for (uint32_t i = 0; i < chosen_.size(); ++i) {
    if (!chosen_[i] || weights_[i].masked || weights_[i].voters.site != 0) continue;
    add_vote_job(i);
    rule_jobs_.add(weights_.rule_job(i, votes), rule_pieces(weights_[i].rows, weights_[i].cols));
  }
  matrix_votes_.array = take(Area::kMatrixVoteJobs, matrix_votes_.jobs);
  vector_votes_.array = take(Area::kVectorVoteJobs, vector_votes_.jobs);
  rule_jobs_.array = take(Area::kRuleJobs, rule_jobs_.jobs);
  make_row_tables();
  make_site_tables();
  std::vector<NoisePart> draws = plan_.layout.parts;
  std::erase_if(draws, [&](const NoisePart& s) { return s.kind == kVector || !chosen_[s.param]; });
  const auto dense =
      std::stable_partition(draws.begin(), draws.end(), [&](const NoisePart& s) { return weights_[s.param].masked; });
  table_part_count_ = static_cast<size_t>(dense - draws.begin());
  vote_part_count_ = draws.size();
  vote_parts_ = noise_.take_parts(Area::kVoteNoiseParts, std::move(draws));
  is_made_ = true;
}

void ReplicaUpdate::add_vote_job(uint32_t index) {
  const ReplicaWeights::Param& param = weights_[index];
  VoteJob job{};
  job.param = index;
  job.first_voter = param.voters.first_pair;
  job.voters = param.voters.pairs;
  job.ranks = static_cast<uint32_t>(param.vector ? 1 : plan_.noise.rank);
  job.rows = param.vector ? param.cols : param.rows;
  job.cols = param.vector ? 1 : param.cols;
  job.a_block = plan_.a_offset[index] / kBlock;
  job.a_stride = divide_up(job.rows, kBlock);
  job.b_block = plan_.b_offset[index] / kBlock;
  job.b_stride = divide_up(job.cols, kBlock);
  job.votes = votes_.get() + param.votes_offset;
  if (param.vector) {
    vector_votes_.add(job, vector_vote_pieces(job.rows));
  } else {
    matrix_votes_.add(job, matrix_vote_pieces(job.rows, job.cols));
  }
}

// Sends the fitness of the pairs that this device votes for, each share with zeros up to whole tiles. Returns the
// largest magnitude.
int32_t ReplicaUpdate::send_fitness(const int8_t* fitness) {
  own_fitness_.resize(voted_.rows_at + padded(voted_.on_rows.count, kTilePairs));
  std::mutex taking_part;
  uint8_t most = 0;
  const auto put = [&](Range share, size_t at) {
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
Range ReplicaUpdate::voting_pairs(const egg_update& u, bool on_rows) const {
  uint32_t begin = u.pairs;
  uint32_t end = 0;
  for (const ReplicaWeights::Param& param : weights_.params()) {
    if (!param.perturbed || param.voters.site != 0 || param.masked != on_rows) continue;
    begin = std::min(begin, param.voters.first_pair);
    end = std::max(end, param.voters.first_pair + param.voters.pairs);
  }
  const bool all = on_rows && own_.owners > 1;
  begin = std::max(begin, all ? 0 : std::min(own_.first_vote_pair, u.pairs));
  end = std::min({end, all ? u.pairs : own_.first_vote_pair + own_.vote_pairs, u.pairs});
  return {begin, end > begin ? end - begin : 0};
}

void ReplicaUpdate::vote_async(const egg_update& u) {
  device_.activate();
  choose(u);
  const bool is_alone = own_.owners == 1;
  const Range dense = voting_pairs(u, false);
  const Range rows = voting_pairs(u, true);
  voted_ = {dense, rows, padded(dense.count, kTilePairs)};
  if (is_alone) {
    const Range both = united(dense, rows);
    voted_ = {both, both, 0};
  }
  const int32_t most_fitness = send_fitness(u.fitness);
  votes_.zero(stream_, own_.memory.votes - own_.memory.masked_votes);
  const uint32_t most_pairs = own_.memory.noise_tiles * kTilePairs;
  const auto each_piece_of = [&](Range all, const auto& body) {
    for (uint32_t done = 0; done < all.count; done += most_pairs) {
      body(Range{all.first + done, std::min(most_pairs, all.count - done)});
    }
  };
  bool has_sent = false;
  bool has_listed = false;
  const auto vote_on_rows = [&](Range pairs) {
    if (row_tables_.count == 0) return;
    if (!has_listed) {
      clear_rows();
      list_streams(u);
    }
    has_listed = true;
    if (own_.memory.keeps_row_votes) make_row_votes(pairs);
  };
  each_piece_of(voted_.dense, [&](Range pairs) {
    make_votes(u, pairs, most_fitness);
    if (!has_sent) send_numbers(u);
    has_sent = true;
    if (is_alone) vote_on_rows(pairs);
  });
  if (!has_sent) send_numbers(u);
  if (!is_alone) {
    each_piece_of(voted_.on_rows, [&](Range pairs) {  // of others too
      noise_.make_parts(vote_parts_, table_part_count_, u.step, pairs);
      vote_on_rows(pairs);
    });
  }
  if (!has_listed) clear_rows();
  vote_by_sites(u);
  check(cudaEventRecord(votes_made_, stream_), "gather votes");
}

// Sends what tables and the rule need besides votes. It uses another stream, because on the votes' stream these copies
// would wait for the next batch, which may be large.
void ReplicaUpdate::send_numbers(const egg_update& u) {
  const std::vector<double> variances = row_variances(u);
  row_variances_.upload(variances.data(), variances.size(), device_.sending);
  scalars_.upload(u.scalars, device_.rule->scalar_count, device_.sending);
  vote_stds_.upload(u.vote_stds, weights_.params().size(), device_.sending);
  check(cudaEventRecord(numbers_sent_, device_.sending), "receive data");
  check(cudaStreamWaitEvent(stream_, numbers_sent_), "receive data");
}

// Makes the votes of all parameters except masked tables.
void ReplicaUpdate::make_votes(const egg_update& u, Range pairs, int32_t most_fitness) {
  const NoiseArgs drawn = noise_.make_parts(vote_parts_, vote_part_count_, u.step, pairs);
  const auto votes_of = [&](const Jobs<VoteJob>& jobs) {
    return VoteArgs{drawn.out,       drawn.tile_bytes,
                    drawn.places,    drawn.values,
                    drawn.seed,      drawn.step,
                    pairs.first,     pairs.count,
                    drawn.tiles,     fitness_.get() + (pairs.first - voted_.dense.first),
                    most_fitness,    static_cast<uint32_t>(plan_.noise.rank),
                    jobs.on_device()};
  };
  launch_matrix_votes(votes_of(matrix_votes_), stream_);
  launch_vector_votes(votes_of(vector_votes_), stream_);
}

void ReplicaUpdate::apply_rule_async() {
  device_.activate();
  changed_.zero(stream_);
  if (!replicas_.empty()) {
    const VoteParts parts{votes_of_.get(), static_cast<uint32_t>(replicas_.size()), all_votes_.get()};
    for (const ReplicaUpdate* replica : replicas_) {
      check(cudaStreamWaitEvent(stream_, replica->votes_made_), "wait for votes");
    }
    launch_sum_votes(parts, own_.memory.counts, stream_);
  }
  if (own_.memory.keeps_row_votes) {
    // Few rows of masked tables have votes: the counts say which.
    launch_find_rows(row_tables_, row_variances_.get(), static_cast<uint32_t>(plan_.noise.rank), stream_);
  } else if (row_tables_.count > 0) {
    make_row_votes(voted_.on_rows);
  }
  launch_rule(rule_args(), stream_);
  apply_rule_by_sites();
  check(cudaEventRecord(rows_made_, stream_), "update the weights");
}

void ReplicaUpdate::end_async() {
  device_.activate();
  if (own_.owners > 1) take_rows();
  weights_.make_forms();
  changed_.download(host_changed_.get(), weights_.params().size(), stream_);
  check(cudaEventRecord(updated_, stream_), "update the weights");
  noise_.make_next();
  batch_.get_ready(false);
}

RuleArgs ReplicaUpdate::rule_args() const {
  const RulePlan& plan = plan_.rule;
  RuleArgs rule{};
  rule.nodes = rule_nodes_.get();
  rule.node_count = static_cast<uint32_t>(plan.nodes.size());
  rule.constants = plan.constants;
  rule.places = plan.places;
  rule.slot_places = slot_places_.get();
  rule.slot_count = device_.rule->slot_count;
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

void ReplicaUpdate::finish(const egg_update& u) {
  device_.activate();
  static_assert(sizeof(unsigned long long) == sizeof(int64_t));
  check(cudaEventSynchronize(updated_), "update the weights");
  for (uint32_t i = 0; i < weights_.params().size(); ++i) {
    const int64_t before = own_.owner > 0 && weights_.shares_rows(i) ? u.changed[i] : 0;
    u.changed[i] = before + static_cast<int64_t>(host_changed_.get()[i]);
  }
}

}  // namespace eggroll::cuda
