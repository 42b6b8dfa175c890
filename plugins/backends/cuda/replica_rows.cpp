// An update's votes on rows of tables: lists of who reads which row, those votes, and rows of other replicas.
#include <algorithm>

#include "eggroll/row_voters.h"
#include "replica_update.h"

namespace eggroll::cuda {

// Adds a table to a list, with what all tables have in common. reads: see SiteVoter.
RowTable& ReplicaUpdate::add_table(TableList& list, RowTables& all, uint32_t index, const std::vector<int32_t>& reads,
                                   const RowLists& lists, const Room& before) const {
  const ReplicaWeights::Param& param = weights_[index];
  uint32_t* const counters = lists.counters.get() + kRowCounters * list.tables.size();
  RowTable& table = list.tables.emplace_back();
  table.param = index;
  table.rows = param.rows;
  table.cols = param.cols;
  table.stride = param.stride;
  table.first_reader = static_cast<uint32_t>(list.readers.size());
  table.reader_count = static_cast<uint32_t>(reads.size());
  for (const int32_t read : reads) list.readers.push_back(static_cast<uint32_t>(read));
  table.votes = lists.votes.get() + before.votes;
  table.counts = reinterpret_cast<unsigned long long*>(votes_.get() + param.counts_offset);
  table.begins = row_begins_.get() + param.begins_offset;
  table.places = lists.places.get() + before.reads;
  table.streams = lists.streams.get() + before.reads;
  table.pieces = lists.pieces.get() + before.pieces;
  table.stream_count = counters;
  table.piece_count = counters + 1;
  table.voted_count = counters + 2;
  table.voted = lists.voted_rows.get() + before.shared_rows;
  table.weights = param.weights.get();
  table.slots = param.slots.get();
  ++all.count;
  all.most_rows = std::max(all.most_rows, table.rows);
  all.most_readers = std::max(all.most_readers, table.reader_count);
  return table;
}

// Returns the room after a masked table's part of the lists.
ReplicaUpdate::Room ReplicaUpdate::after(const Room& before, uint32_t index, size_t readers) const {
  // Streams that have a vote here: those of all pairs if rows have owners.
  const size_t streams =
      own_.owners > 1 ? streams_read_ : std::min<size_t>(streams_read_, divide_up(own_.vote_pairs, stream_pairs_) + 1);
  const size_t reads = streams * tokens_read_ * readers;
  const size_t full = reads * stream_pairs_ / piece_pairs(static_cast<uint32_t>(plan_.noise.rank));
  return before.after(weights_[index].rows, weights_[index].cols, reads, full);
}

// The chosen masked tables.
void ReplicaUpdate::make_row_tables() {
  const bool keeps_votes = own_.memory.keeps_row_votes;
  row_tables_ = {};
  row_tables_.keeps_votes = keeps_votes ? 1 : 0;
  row_params_.clear();
  std::vector<std::vector<int32_t>> reads;
  Room all;
  for (uint32_t i = 0; i < weights_.params().size(); ++i) {
    if (!chosen_[i] || !weights_[i].masked || weights_[i].voters.site != 0) continue;
    row_params_.push_back(i);
    std::vector<int32_t>& its = reads.emplace_back();
    for (uint32_t k = 0; k < plan_.program->op_count; ++k) {
      const egg_op& op = plan_.program->ops[k];
      if (op.code == EGG_OP_EMBED && op.param[0] == static_cast<int32_t>(i)) its.push_back(op.attr);
    }
    all = after(all, i, its.size());
  }
  rows_.places.reserve(all.reads);
  rows_.streams.reserve(all.reads);
  rows_.pieces.reserve(all.pieces);
  piece_vote_count_ = keeps_votes ? 0 : all.votes;
  if (!keeps_votes) {
    rows_.votes.reserve(all.votes);
    rows_.voted_rows.reserve(all.shared_rows);
  }
  TableList list;
  Room before;
  for (size_t t = 0; t < row_params_.size(); ++t) {
    const uint32_t index = row_params_[t];
    const ReplicaWeights::Param& param = weights_[index];
    RowTable& table = add_table(list, row_tables_, index, reads[t], rows_, before);
    table.first_voter = param.voters.first_pair;
    table.voters = param.voters.pairs;
    table.key_offset = plan_.a_offset[index];
    table.b_offset = plan_.b_offset[index];
    if (keeps_votes) {
      table.votes = votes_.get() + param.votes_offset;
      table.voted = rows_.voted_rows.get() + param.begins_offset;
    }
    before = after(before, index, reads[t].size());
  }
  rows_.readers = take(Area::kReaders, list.readers);
  rows_.tables = take(Area::kRowTables, list.tables);
  row_tables_.tables = rows_.tables.get();
  // Clears the results of earlier choices.
  votes_.zero(stream_);
  rows_.counters.zero(stream_);
}

// The chosen tables that vote with sites, one site's tables after another's.
void ReplicaUpdate::make_site_tables() {
  const SitePlan& sites = plan_.sites;
  TableList list;
  Room before;
  site_tables_.assign(sites.sites.size(), RowTables{});
  for (const SiteVoter& voter : sites.tables) {
    if (!chosen_[voter.param]) continue;
    const size_t places = sites.sites[voter.site].places();
    add_table(list, site_tables_[voter.site], voter.param, voter.reads, site_rows_, before).voters =
        static_cast<uint32_t>(places);
    before = before.after(voter, places);
  }
  site_rows_.readers = take(Area::kSiteReaders, list.readers);
  site_rows_.tables = take(Area::kSiteTables, list.tables);
  uint32_t first = 0;
  for (RowTables& of_site : site_tables_) {
    of_site.tables = site_rows_.tables.get() + first;
    first += of_site.count;
  }
}

// Clears the votes on rows of masked tables, and the counts of their lists.
void ReplicaUpdate::clear_rows() {
  if (own_.memory.keeps_row_votes) launch_clear_rows(row_tables_, stream_);
  rows_.votes.zero(stream_, piece_vote_count_);
  rows_.counters.zero(stream_);
}

// By table: draw_variance, with the squares added up once for tables that have the same voters.
std::vector<double> ReplicaUpdate::row_variances(const egg_update& u) const {
  std::vector<double> variances;
  egg_voters known{};
  int64_t squares = 0;
  for (const uint32_t param : row_params_) {
    const egg_voters& voters = weights_[param].voters;
    if (voters.first_pair != known.first_pair || voters.pairs != known.pairs) squares = squares_of(voters, u.fitness);
    known = voters;
    variances.push_back(draw_variance(squares, plan_.noise, voters));
  }
  return variances;
}

// Lists the streams of the pairs whose votes on rows are made here, by the rows that they read.
void ReplicaUpdate::list_streams(const egg_update& u) {
  ReadArgs args{};
  args.tables = row_tables_;
  args.readers = rows_.readers.get();
  args.first_pair = voted_.on_rows.first;
  args.pairs = voted_.on_rows.count;
  args.first_stream = args.first_pair / stream_pairs_;
  args.streams = (args.first_pair + args.pairs - 1) / stream_pairs_ + 1 - args.first_stream;
  args.stream_pairs = stream_pairs_;
  args.tokens = u.batch.tokens;
  args.index_count = plan_.program->index_count;
  // Sites read from the first stream on.
  const bool is_all = !plan_.sites.sites.empty();
  batch_.send_now(u.batch, is_all ? 0 : args.first_stream, is_all ? u.batch.streams : args.streams,
                  ReplicaBatch::Sent::kInputs);
  const size_t before = is_all ? size_t{args.first_stream} * args.tokens : 0;
  args.inputs = batch_.place().inputs.get() + before;
  args.row_numbers = batch_.place().row_numbers.get() + before * args.index_count;
  args.ranks = static_cast<uint32_t>(plan_.noise.rank);
  args.variances = row_variances_.get();
  args.most = piece_pairs(args.ranks);
  args.owner = own_.owner;
  args.owners = own_.owners;
  launch_list_streams(args, stream_);
}

// Makes the votes of masked tables, whose noise must be in memory.
void ReplicaUpdate::make_row_votes(Range pairs) {
  RowVoteArgs args{};
  args.tables = row_tables_;
  args.noise = noise_.values();
  args.tile_bytes = plan_.layout.bytes * kTilePairs;
  args.places = noise_.places();
  args.values = noise_.source();
  args.ranks = static_cast<uint32_t>(plan_.noise.rank);
  args.first_pair = pairs.first;
  args.pairs = pairs.count;
  args.fitness = fitness_.get() + voted_.rows_at + (pairs.first - voted_.on_rows.first);
  args.first_stream = voted_.on_rows.first / stream_pairs_;
  args.stream_pairs = stream_pairs_;
  launch_row_votes(args, rule_args(), stream_);
}

// The others' rules are made, or begun.
void ReplicaUpdate::take_rows() {
  for (const ReplicaUpdate* other : replicas_) {
    if (other == this) continue;
    check(cudaStreamWaitEvent(stream_, other->rows_made_), "wait for rows");
    launch_take_rows(other->row_tables_, row_tables_, stream_);
    for (size_t site = 0; site < site_tables_.size(); ++site) {
      launch_take_rows(other->site_tables_[site], site_tables_[site], stream_);
    }
  }
}

}  // namespace eggroll::cuda
