// A replica's votes with the errors of sites, and its parts of sites for other processes.
#include <algorithm>

#include "replica.h"

namespace eggroll::cuda {

// The chosen tables that vote with sites, those of one site behind another's.
void Replica::make_site_tables(const std::vector<bool>& chosen) {
  const SitePlan& plan = own_.plan.sites;
  std::vector<RowTable> tables;
  std::vector<uint32_t> readers;
  sites_.tables.assign(plan.sites.size(), RowTables{});
  SitePlan::Room before;
  for (const SiteVoter& voter : plan.tables) {
    if (!chosen[voter.param]) continue;
    const Param& param = params_[voter.param];
    const size_t places = plan.sites[voter.site].places();
    RowTable table{};
    table.param = voter.param;
    table.rows = param.rows;
    table.cols = param.cols;
    table.stride = param.stride;
    table.first_reader = static_cast<uint32_t>(readers.size());
    table.reader_count = static_cast<uint32_t>(voter.reads.size());
    for (const int32_t read : voter.reads) readers.push_back(static_cast<uint32_t>(read));
    table.voters = static_cast<uint32_t>(places);
    table.votes = sites_.votes.get() + before.votes;
    table.counts = reinterpret_cast<unsigned long long*>(votes_.get() + param.counts_offset);
    table.begins = row_begins_.get() + param.begins_offset;
    table.places = sites_.read_places.get() + before.reads;
    table.streams = sites_.read_tokens.get() + before.reads;
    table.pieces = sites_.pieces.get() + before.pieces;
    uint32_t* counters = sites_.counters.get() + kRowCounters * tables.size();
    table.stream_count = counters;
    table.piece_count = counters + 1;
    table.voted_count = counters + 2;
    table.voted = sites_.voted_rows.get() + before.shared_rows;
    table.weights = param.weights.get();
    table.slots = param.slots.get();
    before = plan.after(before, voter, places);
    RowTables& of_site = sites_.tables[voter.site];
    ++of_site.count;
    of_site.most_rows = std::max(of_site.most_rows, table.rows);
    of_site.most_readers = std::max(of_site.most_readers, table.reader_count);
    tables.push_back(table);
  }
  sites_.readers = take(Area::kSiteReaders, readers);
  sites_.all_tables = take(Area::kSiteTables, tables);
  uint32_t first = 0;
  for (RowTables& of_site : sites_.tables) {
    of_site.tables = sites_.all_tables.get() + first;
    first += of_site.count;
  }
}

// The places of the site whose streams are this replica's.
Replica::Places Replica::own_places(const SiteShape& site) const {
  const uint32_t in_stream = own_.plan.sites.pairs_of_stream;
  const uint32_t first = std::max(own_.first_pair / in_stream, site.first_stream);
  const uint32_t end = std::min((own_.first_pair + own_.pairs) / in_stream, site.first_stream + site.streams);
  if (end <= first) return {0, 0};
  return {static_cast<uint32_t>(site.place(first, 0)), (end - first) * site.tokens};
}

// Rows have the votes of all streams. The other replicas have ended the evaluation: their losses are there.
void Replica::bring_errors() {
  const SitePlan& sites = own_.plan.sites;
  for (const Replica* other : replicas_) {
    if (other == this) continue;
    for (const SiteShape& site : sites.sites) {
      const auto [first, count] = other->own_places(site);
      const size_t stride = SitePlan::error_stride(site);
      const size_t errors = sites.errors_before(site.number) + first * stride;
      const size_t places = sites.places_before(site.number) + first;
      check(cudaMemcpyAsync(sites_.errors.get() + errors, other->sites_.errors.get() + errors,
                            count * stride * sizeof(int16_t), cudaMemcpyDefault, stream_),
            "bring errors");
      check(cudaMemcpyAsync(sites_.perturbed.get() + places, other->sites_.perturbed.get() + places, count,
                            cudaMemcpyDefault, stream_),
            "bring errors");
    }
  }
}

// Lists who reads which row, and adds up the votes of matrices and vectors.
void Replica::vote_by_sites(const egg_update& u) {
  const SitePlan& sites = own_.plan.sites;
  if (sites.sites.empty()) return;
  std::vector<double> moments;
  sites_.moment_of.clear();
  for (const SiteShape& site : sites.sites) {
    sites_.moment_of.push_back(error_moment(u.sites[site.number], static_cast<int32_t>(site.size)));
    moments.insert(moments.end(), sites_.tables[site.number].count, sites_.moment_of.back());
  }
  sites_.moments.upload(moments.data(), moments.size(), stream_);
  sites_.counters.zero(stream_);
  sites_.votes.zero(stream_);
  bring_errors();
  send_now(u.batch, 0, u.batch.streams, Sent::kInputs);
  uint32_t table = 0;
  for (const SiteShape& site : sites.sites) {
    ReadArgs args{};
    args.tables = sites_.tables[site.number];
    if (args.tables.count == 0) continue;
    const size_t before = size_t{site.first_stream} * site.tokens;
    args.readers = sites_.readers.get();
    args.pairs = static_cast<uint32_t>(site.places());
    args.streams = args.pairs;
    args.stream_pairs = 1;
    args.tokens = 1;
    args.index_count = own_.plan.program->index_count;
    args.inputs = batch_place().inputs.get() + before;
    args.row_numbers = batch_place().row_numbers.get() + before * args.index_count;
    args.ranks = 1;
    args.variances = sites_.moments.get() + table;
    args.most = kSitePiece;
    args.counted = sites_.perturbed.get() + sites.places_before(site.number);
    args.owner = own_.owner;
    args.owners = own_.owners;
    launch_list_streams(args, stream_);
    table += args.tables.count;
  }
  each_site_voter(votes_, &chosen_, [&](const SiteVoter& voter, unsigned long long* squares, bool is_vector) {
    const SiteShape& site = sites.sites[voter.site];
    if (own_.owner == 0) {  // one replica counts the tokens of all, and what other processes have
      if (is_vector) {
        const std::vector<unsigned long long> tokens(site.size, u.sites[site.number].tokens * voter.reads.size());
        check(
            cudaMemcpyAsync(squares, tokens.data(), tokens.size() * sizeof(tokens[0]), cudaMemcpyHostToDevice, stream_),
            "receive data");
      }
      upload_others_votes(voter, squares);
    }
    add_site_votes(voter, squares, is_vector);
  });
  sites_.others.clear();
}

// Adds the votes of this replica's streams, and of a matrix the squares of the inputs.
void Replica::add_site_votes(const SiteVoter& voter, unsigned long long* squares, bool is_vector) {
  const SitePlan& sites = own_.plan.sites;
  const SiteShape& site = sites.sites[voter.site];
  const auto [first, places] = own_places(site);
  if (places == 0) return;
  const int16_t* errors =
      sites_.errors.get() + sites.errors_before(site.number) + size_t{first} * SitePlan::error_stride(site);
  long long* votes = votes_.get() + params_[voter.param].votes_offset;
  for (const int32_t read : voter.reads) {
    if (is_vector) {
      launch_site_vector_votes(errors, SitePlan::error_stride(site), places, site.size, votes, stream_);
      continue;
    }
    SiteMatrixArgs args{};
    args.errors = errors;
    args.error_stride = SitePlan::error_stride(site);
    args.perturbed = sites_.perturbed.get() + sites.places_before(site.number) + first;
    args.input_stride = padded(voter.cols, kBlock);
    const size_t before = size_t{site.first_stream - sites.first_stream} * site.tokens + first;
    args.inputs = sites_.kept.get() + sites.kept_offset(read) + before * args.input_stride;
    args.places = places;
    args.rows = voter.rows;
    args.cols = voter.cols;
    args.votes = votes;
    args.squares = squares;
    launch_site_matrix_votes(args, stream_);
  }
}

// The votes are still zero.
void Replica::upload_others_votes(const SiteVoter& voter, unsigned long long* squares) {
  if (sites_.others.empty() || sites_.others[voter.site].empty()) return;
  const SummedVoter& summed = own_.plan.sites.sites[voter.site].summed_voter(voter.param);
  const int64_t* from = sites_.others[voter.site].data();
  const auto bring = [&](void* to, size_t first, size_t end) {
    check(cudaMemcpyAsync(to, from + first, (end - first) * sizeof(int64_t), cudaMemcpyHostToDevice, stream_),
          "receive data");
  };
  bring(votes_.get() + params_[voter.param].votes_offset, summed.first_vote, summed.first_square());
  if (!summed.is_vector) bring(squares, summed.first_square(), summed.end());
}

void Replica::clear_votes(const egg_site_part& part) const {
  std::fill_n(part.votes, own_.plan.sites.sites[part.site].votes(), int64_t{0});
}

// No update is under way, so that the array of votes is free.
void Replica::add_to_site_part(const egg_site_part& part) {
  const SitePlan& sites = own_.plan.sites;
  const SiteShape& site = sites.sites[part.site];
  const auto [first, places] = own_places(site);
  if (places == 0) return;
  activate();
  if (part.errors != nullptr) {
    const size_t at = first - site.place(part.first_stream, 0);
    const size_t stride = SitePlan::error_stride(site) * sizeof(int16_t);
    const size_t row = site.size * sizeof(int16_t);
    check(cudaMemcpy2DAsync(part.errors + at * site.size, row,
                            sites_.errors.get() + sites.errors_before(site.number) + first * stride / sizeof(int16_t),
                            stride, row, places, cudaMemcpyDeviceToHost, stream_),
          "send data");
    check(cudaMemcpyAsync(part.perturbed + at, sites_.perturbed.get() + sites.places_before(site.number) + first,
                          places, cudaMemcpyDeviceToHost, stream_),
          "send data");
  }
  std::vector<int64_t> votes(site.votes());
  if (!votes.empty()) {
    votes_.zero(stream_, own_.memory.votes - own_.memory.masked_votes);
    each_site_voter(votes_, nullptr, [&](const SiteVoter& voter, unsigned long long* squares, bool is_vector) {
      if (voter.site != part.site) return;
      add_site_votes(voter, squares, is_vector);
      const SummedVoter& summed = site.summed_voter(voter.param);
      const auto send = [&](const void* from, size_t first_cell, size_t end) {
        check(cudaMemcpyAsync(votes.data() + first_cell, from, (end - first_cell) * sizeof(int64_t),
                              cudaMemcpyDeviceToHost, stream_),
              "send data");
      };
      send(votes_.get() + params_[voter.param].votes_offset, summed.first_vote, summed.first_square());
      if (!is_vector) send(squares, summed.first_square(), summed.end());
    });
  }
  check(cudaStreamSynchronize(stream_), "send data");
  for (size_t i = 0; i < votes.size(); ++i) part.votes[i] += votes[i];
}

void Replica::add_site_part(const egg_site_part& part) {
  const SitePlan& sites = own_.plan.sites;
  const SiteShape& site = sites.sites[part.site];
  activate();
  if (part.errors != nullptr) {
    const size_t first = site.place(part.first_stream, 0);
    const size_t places = size_t{part.streams} * site.tokens;
    const size_t stride = SitePlan::error_stride(site) * sizeof(int16_t);
    const size_t row = site.size * sizeof(int16_t);
    check(cudaMemcpy2DAsync(sites_.errors.get() + sites.errors_before(site.number) + first * stride / sizeof(int16_t),
                            stride, part.errors, row, row, places, cudaMemcpyHostToDevice, stream_),
          "receive data");
    check(cudaMemcpyAsync(sites_.perturbed.get() + sites.places_before(site.number) + first, part.perturbed, places,
                          cudaMemcpyHostToDevice, stream_),
          "receive data");
    check(cudaStreamSynchronize(stream_), "receive data");  // the caller's arrays end with the call
  }
  if (part.votes == nullptr || own_.owner != 0) return;
  sites_.others.resize(sites.sites.size());
  std::vector<int64_t>& others = sites_.others[part.site];
  others.resize(site.votes());
  for (size_t i = 0; i < others.size(); ++i) others[i] += part.votes[i];
}

// Calls body(voter, its squares among these votes, is_vector) for the chosen matrices and vectors; chosen: null for
// all.
template <class Body>
void Replica::each_site_voter(const DeviceArray<long long>& votes, const std::vector<bool>* chosen, const Body& body) {
  auto* squares = reinterpret_cast<unsigned long long*>(votes.get() + own_.memory.squares);
  const auto each = [&](const std::vector<SiteVoter>& voters, bool is_vector) {
    for (const SiteVoter& voter : voters) {
      if (chosen == nullptr || (*chosen)[voter.param]) body(voter, squares, is_vector);
      squares += params_[voter.param].cols;
    }
  };
  each(own_.plan.sites.matrices, false);
  each(own_.plan.sites.vectors, true);
}

void Replica::apply_rule_by_sites() {
  const SitePlan& sites = own_.plan.sites;
  if (sites.sites.empty()) return;
  RuleArgs rule = rule_args();
  rule.list = {};
  for (const SiteShape& site : sites.sites) {
    rule.tables = sites_.tables[site.number].tables;
    rule.table_count = sites_.tables[site.number].count;
    launch_site_rows({sites_.tables[site.number], sites_.errors.get() + sites.errors_before(site.number),
                      SitePlan::error_stride(site)},
                     rule, stream_);
    launch_rule(rule, stream_);  // of rows with several pieces
  }
  const DeviceArray<long long>& votes = replicas_.empty() ? votes_ : all_votes_;
  each_site_voter(votes, &chosen_, [&](const SiteVoter& voter, unsigned long long* squares, bool /*is_vector*/) {
    const Param& param = params_[voter.param];
    const RuleJob job{0,
                      voter.param,
                      votes.get() + param.votes_offset,
                      param.weights.get(),
                      param.rows,
                      param.cols,
                      param.stride,
                      param.slots.get()};
    launch_site_rule({job, squares, sites_.moment_of[voter.site]}, rule, stream_);
  });
}

bool Replica::shares_rows(uint32_t param) const {
  const Param& its = params_.at(param);
  return own_.owners > 1 && its.masked;
}

// The others' rules are made, or begun.
void Replica::take_rows() {
  for (const Replica* other : replicas_) {
    if (other == this) continue;
    check(cudaStreamWaitEvent(stream_, other->rows_made_), "wait for rows");
    launch_take_rows(other->row_tables_, row_tables_, stream_);
    for (const SiteShape& site : own_.plan.sites.sites) {
      launch_take_rows(other->sites_.tables[site.number], sites_.tables[site.number], stream_);
    }
  }
}

void Replica::take_slot(uint32_t index, uint32_t slot) {
  activate();
  const Param& param = params_.at(index);
  for (const Replica* other : replicas_) {
    if (other == this) continue;
    const size_t before = slot * param.count();
    launch_copy_rows(other->params_[index].slots.get() + before, param.slots.get() + before, param.rows, param.cols,
                     other->own_.owner, own_.owners, stream_);
  }
}

}  // namespace eggroll::cuda
