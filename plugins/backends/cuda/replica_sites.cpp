// A replica's work on sites: the streams that run the unperturbed model, draws at its logits and within, and votes with
// errors.
#include <algorithm>

#include "eggroll/sites.h"
#include "replica.h"

namespace eggroll::cuda {

void Replica::make_sites() {
  const SitePlan& plan = own_.plan.sites;
  if (plan.sites.empty()) return;
  sites_.kept = take<int8_t>(Area::kKept);
  sites_.errors = take<int16_t>(Area::kSiteErrors);
  sites_.perturbed = take<uint8_t>(Area::kSitePerturbed);
  sites_.perturbed.zero(stream_);
  sites_.losses = take<int64_t>(Area::kSiteLosses);
  sites_.sums = take<egg_site_sums>(Area::kSiteSums);
  sites_.host_losses = HostArray<int64_t>(plan.streams);
  sites_.host_sums = HostArray<egg_site_sums>(plan.sites.size());
  sites_.read_places = take<uint32_t>(Area::kSiteReadPlaces);
  sites_.read_tokens = take<uint32_t>(Area::kSiteReadTokens);
  sites_.pieces = take<RowPiece>(Area::kSitePieces);
  sites_.voted_rows = take<VotedRow>(Area::kSiteVotedRows);
  sites_.votes = take<long long>(Area::kSiteVotes);
  sites_.counters = take<uint32_t>(Area::kSiteCounters);
  sites_.moments = take<double>(Area::kSiteMoments);
}

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

// Cuts a share where streams of sites begin and end.
std::vector<Replica::Part> Replica::parts_of(Share share) const {
  const auto site_of = [&](uint32_t member) {
    const auto& sites = own_.plan.sites.sites;
    return std::find_if(sites.begin(), sites.end(), [&](const SiteShape& site) { return site.has_pair(member / 2); });
  };
  std::vector<Part> parts;
  const uint32_t last = share.first + share.count;
  for (uint32_t first = share.first; first < last;) {
    const auto site = site_of(first);
    const bool is_of_sites = site != own_.plan.sites.sites.end();
    uint32_t end = last;
    for (const SiteShape& other : own_.plan.sites.sites) {
      const uint32_t begins = 2 * other.site.first_pair;
      if (begins > first) end = std::min(end, begins);
    }
    if (is_of_sites) end = std::min(end, 2 * (site->site.first_pair + site->site.pairs));
    parts.push_back({{first, end - first}, is_of_sites});
    first = end;
  }
  // Neither a site's streams nor a few members fill a device: both run at once where the workspace has tiles for both.
  const auto blocks_of = [&](const Part& part) {
    return blocks_for(part.members.count / (part.is_of_sites ? 2 * own_.plan.sites.pairs_of_stream : 1), own_.plan);
  };
  uint32_t streams = 0;
  for (const Part& part : parts) streams = part.is_of_sites ? std::max(streams, blocks_of(part)) : streams;
  for (Part& part : parts) {
    if (!part.is_of_sites && streams + blocks_of(part) <= own_.memory.blocks) part.first_block = streams;
  }
  const auto is_beside = [](const Part& part) { return part.first_block > 0; };
  std::stable_partition(parts.begin(), parts.end(), is_beside);  // before the streams take the whole device
  return parts;
}

// The part's streams, each once; then the draws of every site that they have. The batch is there.
void Replica::evaluate_sites(const egg_evaluate& e, Share part, uint32_t first_sent) {
  const Plan& plan = own_.plan;
  const SitePlan& sites = plan.sites;
  const uint32_t in_stream = e.members_per_stream;
  const uint32_t stream = part.first / in_stream;  // of the step
  const uint32_t streams = part.count / in_stream;
  const uint32_t in_batch = (part.first - e.first) / in_stream - first_sent;
  const uint32_t first_kept = stream - sites.first_stream;
  NoiseArgs plain = noise_args(parts_.get(), part_count_, 0, 0, 1, plain_noise_.get());
  plain.perturb = 0;
  launch_noise(plain, stream_);
  if (own_.later) {
    plain.parts = later_.parts.get();
    plain.part_count = static_cast<uint32_t>(own_.later->layout.parts.size());
    plain.places = fused_places_.get();
    plain.out = later_.noise.get();
    plain.tile_bytes = own_.later->layout.bytes * kTilePairs;
    launch_noise(plain, stream_);
  }
  ForwardArgs args = forward_args(e.batch);
  args.rows = streams;
  args.first = in_batch;
  args.members_per_stream = 1;
  args.noise = plain_noise_.get();
  // A stream's state is that of its first member, and then of all.
  int8_t* const states = states_.get() + (part.first - first_member()) * plan.state_stride;
  args.states = states;
  args.state_stride = in_stream * plan.state_stride;
  args.losses = sites_.losses.get() + first_kept;
  args.kept = sites_.kept.get();
  args.first_kept = first_kept;
  launch_forward_pass(args, stream_);
  for (uint32_t i = 1; i < in_stream && plan.state_stride > 0; ++i) {
    check(cudaMemcpy2DAsync(states + i * plan.state_stride, args.state_stride, states, args.state_stride,
                            plan.state_stride, streams, cudaMemcpyDeviceToDevice, stream_),
          "copy states");
  }
  for (const SiteShape& site : sites.sites) {
    if (site.has(stream) && is_at_loss(*plan.program, site.site.value))
      draw_at_loss(e, site, stream, streams, in_batch);
  }
  for (size_t i = 0; i < behind_.size(); ++i) {
    if (sites.sites[own_.behind[i].site].has(stream)) draw_within(e, i, stream, streams, in_batch);
  }
  check(cudaMemcpyAsync(sites_.host_losses.get() + first_kept, args.losses, streams * sizeof(int64_t),
                        cudaMemcpyDeviceToHost, stream_),
        "send data");
}

void Replica::draw_at_loss(const egg_evaluate& e, const SiteShape& site, uint32_t stream, uint32_t streams,
                           uint32_t in_batch) {
  const Plan& plan = own_.plan;
  const SitePlan& sites = plan.sites;
  const size_t first_place = site.place(stream, 0);
  const size_t first_kept = size_t{stream - sites.first_stream} * site.tokens;
  SiteDrawArgs draws{};
  draws.logit_stride = padded(site.size, kBlock);
  draws.logits = sites_.kept.get() + sites.kept_offset(site.site.value) + first_kept * draws.logit_stride;
  draws.size = site.size;
  draws.targets = batch_place().targets.get() + size_t{in_batch} * site.tokens;
  draws.loss_tables = loss_tables_.get();
  draws.seed = plan.noise.seed;
  draws.step = e.step;
  draws.stream = stream;
  draws.streams = streams;
  draws.tokens = site.tokens;
  draws.number = site.number;
  draws.draws = site.site.draws;
  draws.orthogonal = site.site.design == EGG_DRAWS_ORTHOGONAL ? 1 : 0;
  draws.amplitude = site.site.amplitude;
  draws.unit = plan.program->ops[plan.program->op_count - 1].attr;
  draws.shift = site.site.shift;
  draws.error_stride = SitePlan::error_stride(site);
  draws.errors = sites_.errors.get() + sites.errors_before(site.number) + first_place * SitePlan::error_stride(site);
  draws.perturbed = sites_.perturbed.get() + sites.places_before(site.number) + first_place;
  draws.sums = sites_.sums.get() + site.number;
  launch_site_draws(draws, stream_);
}

// As many places at once as a launch has members for.
void Replica::draw_within(const egg_evaluate& e, size_t behind, uint32_t stream, uint32_t streams, uint32_t in_batch) {
  const Pass& pass = behind_[behind].at_place;
  const BehindPlan& planned = own_.behind[behind];
  const SitePlan& sites = own_.plan.sites;
  const SiteShape& site = sites.sites[planned.site];
  const uint32_t members = 2 * site.site.draws;  // of a place
  const uint32_t all = streams * site.tokens;
  const uint32_t most = most_places(site);
  const uint32_t horizon = sites.horizon(site);
  const size_t in_site = site.place(stream, 0);
  const size_t in_kept = size_t{stream - sites.first_stream} * site.tokens;
  for (uint32_t first = 0; first < all; first += most) {
    const uint32_t places = std::min(most, all - first);
    const size_t entry = size_t{in_batch} * site.tokens + first;
    ForwardArgs args = forward_args(e.batch, pass);
    args.tokens = 1;
    args.rows = places * members;
    args.members_per_stream = members;
    args.inputs += entry;
    args.targets += entry;
    args.resets += entry;
    if (args.row_numbers != nullptr) args.row_numbers += entry * args.index_count;
    args.noise = plain_noise_.get();
    args.losses = behind_losses_.get();
    args.kept = sites_.kept.get();
    args.first_kept = static_cast<uint32_t>(in_kept + first);
    args.move = {own_.plan.noise.seed,
                 e.step,
                 stream,
                 first,
                 site.tokens,
                 site.number,
                 site.site.draws,
                 site.site.amplitude,
                 site.site.design == EGG_DRAWS_ORTHOGONAL ? 1U : 0U,
                 site.size,
                 0,
                 args.resets,
                 horizon > 0 ? later_.cache.get() : nullptr,
                 1 + horizon,
                 sites.cached_bytes};
    args.states = later_.states.get();
    args.state_stride = own_.plan.state_stride;
    launch_draws(args, planned.plan, planned.blocks);
    if (horizon > 0) draw_later(args, horizon, behind);
    SiteErrorArgs errors{};
    errors.losses = behind_losses_.get();
    errors.later = horizon > 0 ? later_.losses.get() : nullptr;
    errors.targets = args.targets;
    errors.move = args.move;
    errors.places = places;
    errors.limit = egg_draw_limit(site.site.draws);
    errors.shift = site.site.shift;
    errors.error_stride = SitePlan::error_stride(site);
    errors.errors =
        sites_.errors.get() + sites.errors_before(site.number) + (in_site + first) * SitePlan::error_stride(site);
    errors.perturbed = sites_.perturbed.get() + sites.places_before(site.number) + in_site + first;
    errors.sums = sites_.sums.get() + site.number;
    launch_site_errors(errors, stream_);
  }
}

void Replica::launch_draws(const ForwardArgs& args, const Plan& plan, uint32_t most_blocks) {
  launch_forward(args, std::min(most_blocks, divide_up(args.rows, plan.tiles * kTileRows)), plan.tiles, stream_);
}

// The same members go on with whole tokens of the unperturbed model, from the states behind theirs.
void Replica::draw_later(const ForwardArgs& at_token, uint32_t horizon, size_t behind) {
  const BehindPlan& planned = own_.behind[behind];
  const uint32_t places = at_token.rows / at_token.members_per_stream;
  launch_later_tokens({at_token.inputs, at_token.targets, at_token.resets, at_token.row_numbers, at_token.index_count,
                       at_token.move.place, places, at_token.move.tokens, horizon, later_.inputs.get(),
                       later_.targets.get(), later_.resets.get(), later_.row_numbers.get()},
                      stream_);
  ForwardArgs args = planned.later ? forward_args({}, behind_[behind].later) : forward_args({});
  args.tokens = horizon;
  args.rows = at_token.rows;
  args.members_per_stream = at_token.members_per_stream;
  args.inputs = later_.inputs.get();
  args.targets = later_.targets.get();
  args.resets = later_.resets.get();
  args.row_numbers = later_.row_numbers.get();
  args.noise = plain_noise_.get();
  args.states = at_token.states;
  args.losses = later_.losses.get();
  if (planned.later) {
    args.kept = at_token.kept;
    args.first_kept = at_token.first_kept;
    args.move = at_token.move;
    args.move.later = 1;
    return launch_draws(args, *planned.later, planned.later_blocks);
  }
  if (!own_.later) return launch_forward_pass(args, stream_);
  args.noise = later_.noise.get();
  launch_fused_pass(args, blocks_for(args.rows, *own_.later), stream_);
}

void Replica::finish_sites(const egg_evaluate& e, const std::vector<Part>& parts) const {
  const SitePlan& sites = own_.plan.sites;
  for (const Part& part : parts) {
    if (!part.is_of_sites) continue;
    const uint32_t first = part.members.first / e.members_per_stream - sites.first_stream;
    for (uint32_t i = 0; i < part.members.count; ++i) {
      e.losses[part.members.first - e.first + i] = sites_.host_losses.get()[first + i / e.members_per_stream];
    }
  }
}

void Replica::add_site_sums(const egg_evaluate& e) const {
  if (share_of(e.first, e.count).count == 0) return;
  for (size_t i = 0; i < own_.plan.sites.sites.size(); ++i) {
    e.sites[i].tokens += sites_.host_sums.get()[i].tokens;
    e.sites[i].squares += sites_.host_sums.get()[i].squares;
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
