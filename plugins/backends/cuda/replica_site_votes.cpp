// An update's votes with the errors of sites, and its parts of sites for other processes.
#include <algorithm>

#include "replica_update.h"

namespace eggroll::cuda {

// For the chosen matrices and vectors, or for all.
template <class Body>
void ReplicaUpdate::each_site_voter(const DeviceArray<long long>& votes, bool only_chosen, const Body& body) {
  auto* squares = reinterpret_cast<Squares>(votes.get() + own_.memory.squares);
  const auto each = [&](const std::vector<SiteVoter>& voters, bool is_vector) {
    for (const SiteVoter& voter : voters) {
      if (!only_chosen || chosen_[voter.param]) body(voter, squares, is_vector);
      squares += weights_[voter.param].cols;
    }
  };
  each(plan_.sites.matrices, false);
  each(plan_.sites.vectors, true);
}

// Rows get the votes of all streams. The other replicas must have ended the evaluation.
void ReplicaUpdate::bring_errors() {
  for (const ReplicaUpdate* other : replicas_) {
    if (other == this) continue;
    for (const SiteShape& site : plan_.sites.sites) {
      const auto [first, count] = other->own_.own_places(site);
      check(cudaMemcpyAsync(forward_.errors(site, first), other->forward_.errors(site, first),
                            size_t{count} * SitePlan::error_stride(site) * sizeof(int16_t), cudaMemcpyDefault, stream_),
            "bring errors");
      check(cudaMemcpyAsync(forward_.perturbed(site, first), other->forward_.perturbed(site, first), count,
                            cudaMemcpyDefault, stream_),
            "bring errors");
    }
  }
}

// Lists who reads which row, and adds up the votes of matrices and vectors.
void ReplicaUpdate::vote_by_sites(const egg_update& u) {
  const SitePlan& sites = plan_.sites;
  if (sites.sites.empty()) return;
  std::vector<double> moments;
  moment_of_.clear();
  for (const SiteShape& site : sites.sites) {
    moment_of_.push_back(error_moment(u.sites[site.number], static_cast<int32_t>(site.size)));
    moments.insert(moments.end(), site_tables_[site.number].count, moment_of_.back());
  }
  moments_.upload(moments.data(), moments.size(), stream_);
  site_rows_.counters.zero(stream_);
  site_rows_.votes.zero(stream_);
  bring_errors();
  batch_.send_now(u.batch, 0, u.batch.streams, ReplicaBatch::Sent::kInputs);
  list_tokens();
  each_site_voter(votes_, true, [&](const SiteVoter& voter, Squares squares, bool is_vector) {
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
  others_.clear();
}

// Lists the tokens that read each row of the tables.
void ReplicaUpdate::list_tokens() {
  const double* moments = moments_.get();
  for (const SiteShape& site : plan_.sites.sites) {
    ReadArgs args{};
    args.tables = site_tables_[site.number];
    if (args.tables.count == 0) continue;
    const size_t before = size_t{site.first_stream} * site.tokens;
    args.readers = site_rows_.readers.get();
    args.pairs = static_cast<uint32_t>(site.places());
    args.streams = args.pairs;
    args.stream_pairs = 1;
    args.tokens = 1;
    args.index_count = plan_.program->index_count;
    args.inputs = batch_.place().inputs.get() + before;
    args.row_numbers = batch_.place().row_numbers.get() + before * args.index_count;
    args.ranks = 1;
    args.variances = moments;
    args.most = kSitePiece;
    args.counted = forward_.perturbed(site);
    args.owner = own_.owner;
    args.owners = own_.owners;
    launch_list_streams(args, stream_);
    moments += args.tables.count;
  }
}

// Adds the votes of this replica's streams, and of a matrix the squares of the inputs.
void ReplicaUpdate::add_site_votes(const SiteVoter& voter, Squares squares, bool is_vector) {
  const SiteShape& site = plan_.sites.sites[voter.site];
  const auto [first, places] = own_.own_places(site);
  if (places == 0) return;
  const int16_t* errors = forward_.errors(site, first);
  long long* votes = votes_.get() + weights_[voter.param].votes_offset;
  for (const int32_t read : voter.reads) {
    if (is_vector) {
      launch_site_vector_votes(errors, SitePlan::error_stride(site), places, site.size, votes, stream_);
      continue;
    }
    SiteMatrixArgs args{};
    args.errors = errors;
    args.error_stride = SitePlan::error_stride(site);
    args.perturbed = forward_.perturbed(site, first);
    args.input_stride = padded(voter.cols, kBlock);
    const size_t before = size_t{site.first_stream - plan_.sites.first_stream} * site.tokens + first;
    args.inputs = forward_.kept(read) + before * args.input_stride;
    args.places = places;
    args.rows = voter.rows;
    args.cols = voter.cols;
    args.votes = votes;
    args.squares = squares;
    launch_site_matrix_votes(args, stream_);
  }
}

// The votes must still be zero.
void ReplicaUpdate::upload_others_votes(const SiteVoter& voter, Squares squares) {
  if (others_.empty() || others_[voter.site].empty()) return;
  const SummedVoter& summed = plan_.sites.sites[voter.site].summed_voter(voter.param);
  const int64_t* from = others_[voter.site].data();
  const auto bring = [&](void* to, size_t first, size_t end) {
    check(cudaMemcpyAsync(to, from + first, (end - first) * sizeof(int64_t), cudaMemcpyHostToDevice, stream_),
          "receive data");
  };
  bring(votes_.get() + weights_[voter.param].votes_offset, summed.first_vote, summed.first_square());
  if (!summed.is_vector) bring(squares, summed.first_square(), summed.end());
}

void ReplicaUpdate::clear_votes(const egg_site_part& part) const {
  std::fill_n(part.votes, plan_.sites.sites[part.site].votes(), int64_t{0});
}

// No update may be under way, because this uses the array of votes.
void ReplicaUpdate::add_to_site_part(const egg_site_part& part) {
  const SiteShape& site = plan_.sites.sites[part.site];
  const auto [first, places] = own_.own_places(site);
  if (places == 0) return;
  device_.activate();
  if (part.errors != nullptr) {
    const size_t at = first - site.place(part.first_stream, 0);
    const size_t row = site.size * sizeof(int16_t);
    check(
        cudaMemcpy2DAsync(part.errors + at * site.size, row, forward_.errors(site, first),
                          SitePlan::error_stride(site) * sizeof(int16_t), row, places, cudaMemcpyDeviceToHost, stream_),
        "send data");
    check(
        cudaMemcpyAsync(part.perturbed + at, forward_.perturbed(site, first), places, cudaMemcpyDeviceToHost, stream_),
        "send data");
  }
  std::vector<int64_t> votes(site.votes());
  if (!votes.empty()) {
    votes_.zero(stream_, own_.memory.votes - own_.memory.masked_votes);
    each_site_voter(votes_, false, [&](const SiteVoter& voter, Squares squares, bool is_vector) {
      if (voter.site != part.site) return;
      add_site_votes(voter, squares, is_vector);
      const SummedVoter& summed = site.summed_voter(voter.param);
      const auto send = [&](const void* from, size_t first_cell, size_t end) {
        check(cudaMemcpyAsync(votes.data() + first_cell, from, (end - first_cell) * sizeof(int64_t),
                              cudaMemcpyDeviceToHost, stream_),
              "send data");
      };
      send(votes_.get() + weights_[voter.param].votes_offset, summed.first_vote, summed.first_square());
      if (!is_vector) send(squares, summed.first_square(), summed.end());
    });
  }
  check(cudaStreamSynchronize(stream_), "send data");
  for (size_t i = 0; i < votes.size(); ++i) part.votes[i] += votes[i];
}

void ReplicaUpdate::add_site_part(const egg_site_part& part) {
  const SiteShape& site = plan_.sites.sites[part.site];
  device_.activate();
  if (part.errors != nullptr) {
    const size_t first = site.place(part.first_stream, 0);
    const size_t places = size_t{part.streams} * site.tokens;
    const size_t row = site.size * sizeof(int16_t);
    check(cudaMemcpy2DAsync(forward_.errors(site, first), SitePlan::error_stride(site) * sizeof(int16_t), part.errors,
                            row, row, places, cudaMemcpyHostToDevice, stream_),
          "receive data");
    check(cudaMemcpyAsync(forward_.perturbed(site, first), part.perturbed, places, cudaMemcpyHostToDevice, stream_),
          "receive data");
    check(cudaStreamSynchronize(stream_), "receive data");  // the caller's arrays end with the call
  }
  if (part.votes == nullptr || own_.owner != 0) return;
  others_.resize(plan_.sites.sites.size());
  std::vector<int64_t>& others = others_[part.site];
  others.resize(site.votes());
  for (size_t i = 0; i < others.size(); ++i) others[i] += part.votes[i];
}

void ReplicaUpdate::apply_rule_by_sites() {
  if (plan_.sites.sites.empty()) return;
  RuleArgs rule = rule_args();
  rule.list = {};
  for (const SiteShape& site : plan_.sites.sites) {
    const RowTables& tables = site_tables_[site.number];
    rule.tables = tables.tables;
    rule.table_count = tables.count;
    launch_site_rows({tables, forward_.errors(site), SitePlan::error_stride(site)}, rule, stream_);
    launch_rule(rule, stream_);  // of rows with several pieces
  }
  const DeviceArray<long long>& votes = replicas_.empty() ? votes_ : all_votes_;
  each_site_voter(votes, true, [&](const SiteVoter& voter, Squares squares, bool /*is_vector*/) {
    launch_site_rule({weights_.rule_job(voter.param, votes), squares, moment_of_[voter.site]}, rule, stream_);
  });
}

}  // namespace eggroll::cuda
