// A replica's work on sites: the streams that run the unperturbed model, draws at its logits and within.
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

// Whether tokens of a horizon run op by op in the streams' workspace.
bool Replica::needs_whole_workspace() const {
  const auto goes_on = [&](const BehindPlan& behind) {
    return own_.plan.sites.sites[behind.site].site.horizon > 0 && !behind.later && !own_.later;
  };
  return std::any_of(own_.behind.begin(), own_.behind.end(), goes_on);
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
  // All parts of members are beside or none is: they share the noise and their part of the workspace, and one stream
  // keeps them apart.
  uint32_t streams = 0;
  uint32_t beside = 0;
  for (const Part& part : parts) {
    const uint32_t rows = part.members.count / (part.is_of_sites ? 2 * own_.plan.sites.pairs_of_stream : 1);
    uint32_t& most = part.is_of_sites ? streams : beside;
    most = std::max(most, blocks_for(rows, own_.plan));
  }
  if (needs_whole_workspace() || streams + beside > own_.memory.blocks) return parts;
  for (Part& part : parts) part.first_block = part.is_of_sites ? 0 : streams;
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

}  // namespace eggroll::cuda
