// A forward pass's work on sites: the streams that run the unperturbed model, draws at its logits and within.
#include <algorithm>

#include "eggroll/sites.h"
#include "replica_forward.h"

namespace eggroll::cuda {

// Whether tokens of a horizon run op by op in the streams' workspace.
bool ReplicaForward::needs_whole_workspace() const {
  const auto goes_on = [&](const BehindPlan& behind) {
    return plan_.sites.sites[behind.site].site.horizon > 0 && !behind.later && !own_.later;
  };
  return std::any_of(own_.behind.begin(), own_.behind.end(), goes_on);
}

// Cuts the own members where streams of sites begin and end.
std::vector<ReplicaForward::Part> ReplicaForward::parts_of(Range own) const {
  const std::vector<SiteShape>& sites = plan_.sites.sites;
  std::vector<Part> parts;
  const uint32_t last = own.first + own.count;
  for (uint32_t first = own.first; first < last;) {
    const auto site =
        std::find_if(sites.begin(), sites.end(), [&](const SiteShape& each) { return each.has_pair(first / 2); });
    const bool is_of_sites = site != sites.end();
    uint32_t end = last;
    for (const SiteShape& other : sites) {
      const uint32_t begins = 2 * other.site.first_pair;
      if (begins > first) end = std::min(end, begins);
    }
    if (is_of_sites) end = std::min(end, 2 * (site->site.first_pair + site->site.pairs));
    parts.push_back({{first, end - first}, is_of_sites});
    first = end;
  }
  // Neither a site's streams nor a few members fill a device: both run at once if the workspace has tiles for both.
  // Either all parts of members run beside streams or none: they share the noise and their part of the
  // workspace, and one stream keeps them apart.
  uint32_t streams = 0;
  uint32_t beside = 0;
  for (const Part& part : parts) {
    const uint32_t rows = part.members.count / (part.is_of_sites ? 2 * plan_.sites.pairs_of_stream : 1);
    uint32_t& most = part.is_of_sites ? streams : beside;
    most = std::max(most, passes_.blocks_for(rows));
  }
  if (needs_whole_workspace() || streams + beside > own_.memory.blocks) return parts;
  for (Part& part : parts) part.first_block = part.is_of_sites ? 0 : streams;
  const auto is_beside = [](const Part& part) { return part.first_block > 0; };
  std::stable_partition(parts.begin(), parts.end(), is_beside);  // before the streams take the whole device
  return parts;
}

// Runs the part's streams, each once, and then the draws of every site that they have. The batch is there.
void ReplicaForward::evaluate_sites(const egg_evaluate& e, Range part, uint32_t first_sent) {
  const SitePlan& sites = plan_.sites;
  const uint32_t in_stream = e.members_per_stream;
  const uint32_t stream = part.first / in_stream;  // of the step
  const uint32_t streams = part.count / in_stream;
  const uint32_t in_batch = (part.first - e.first) / in_stream - first_sent;
  const uint32_t first_kept = stream - sites.first_stream;
  noise_.make_plain();
  if (own_.later) noise_.make_plain_of_later();
  ForwardArgs args = passes_.args(passes_.whole());
  args.tokens = e.batch.tokens;
  args.rows = streams;
  args.first = in_batch;
  args.members_per_stream = 1;
  args.noise = noise_.plain();
  // A stream's state is that of its first member, and then of all.
  int8_t* const states = states_of(part.first);
  args.states = states;
  args.state_stride = in_stream * plan_.state_stride;
  args.losses = site_losses_.get() + first_kept;
  args.kept = kept_.get();
  args.first_kept = first_kept;
  passes_.launch(args, stream_);
  for (uint32_t i = 1; i < in_stream && plan_.state_stride > 0; ++i) {
    check(cudaMemcpy2DAsync(states + i * plan_.state_stride, args.state_stride, states, args.state_stride,
                            plan_.state_stride, streams, cudaMemcpyDeviceToDevice, stream_),
          "copy states");
  }
  for (const SiteShape& site : sites.sites) {
    if (site.has(stream) && is_at_loss(*plan_.program, site.site.value))
      draw_at_loss(e, site, stream, streams, in_batch);
  }
  for (size_t i = 0; i < own_.behind.size(); ++i) {
    if (sites.sites[own_.behind[i].site].has(stream)) draw_within(e, i, stream, streams, in_batch);
  }
  check(cudaMemcpyAsync(host_site_losses_.get() + first_kept, args.losses, streams * sizeof(int64_t),
                        cudaMemcpyDeviceToHost, stream_),
        "send data");
}

void ReplicaForward::draw_at_loss(const egg_evaluate& e, const SiteShape& site, uint32_t stream, uint32_t streams,
                                  uint32_t in_batch) {
  const size_t first_place = site.place(stream, 0);
  const size_t first_kept = size_t{stream - plan_.sites.first_stream} * site.tokens;
  SiteDrawArgs draws{};
  draws.logit_stride = padded(site.size, kBlock);
  draws.logits = kept(site.site.value) + first_kept * draws.logit_stride;
  draws.size = site.size;
  draws.targets = batch_.place().targets.get() + size_t{in_batch} * site.tokens;
  draws.loss_tables = passes_.loss_tables();
  draws.seed = plan_.noise.seed;
  draws.step = e.step;
  draws.stream = stream;
  draws.streams = streams;
  draws.tokens = site.tokens;
  draws.number = site.number;
  draws.draws = site.site.draws;
  draws.orthogonal = site.site.design == EGG_DRAWS_ORTHOGONAL ? 1 : 0;
  draws.amplitude = site.site.amplitude;
  draws.unit = plan_.program->ops[plan_.program->op_count - 1].attr;
  draws.shift = site.site.shift;
  draws.error_stride = SitePlan::error_stride(site);
  draws.errors = errors(site, first_place);
  draws.perturbed = perturbed(site, first_place);
  draws.sums = sums_.get() + site.number;
  launch_site_draws(draws, stream_);
}

// A launch takes as many places as it has members for.
void ReplicaForward::draw_within(const egg_evaluate& e, size_t behind, uint32_t stream, uint32_t streams,
                                 uint32_t in_batch) {
  const BehindPlan& planned = own_.behind[behind];
  const SiteShape& site = plan_.sites.sites[planned.site];
  const uint32_t members = 2 * site.site.draws;  // of a place
  const uint32_t all = streams * site.tokens;
  const uint32_t most = most_places(site);
  const uint32_t horizon = plan_.sites.horizon(site);
  const size_t in_kept = size_t{stream - plan_.sites.first_stream} * site.tokens;
  for (uint32_t first = 0; first < all; first += most) {
    const size_t entry = size_t{in_batch} * site.tokens + first;
    ForwardArgs args = passes_.args(passes_.behind()[behind].at_place);
    args.tokens = 1;
    args.rows = std::min(most, all - first) * members;
    args.members_per_stream = members;
    args.inputs += entry;
    args.targets += entry;
    args.resets += entry;
    if (args.row_numbers != nullptr) args.row_numbers += entry * args.index_count;
    args.noise = noise_.plain();
    args.losses = behind_losses_.get();
    args.kept = kept_.get();
    args.first_kept = static_cast<uint32_t>(in_kept + first);
    args.move = move_args(e, site, stream, first);
    args.move.resets = args.resets;
    args.states = behind_states_.get();
    args.state_stride = plan_.state_stride;
    passes_.launch_draws(args, planned.plan, planned.blocks);
    if (horizon > 0) draw_later(args, horizon, behind);
    make_errors(args, site, site.place(stream, 0) + first);
  }
}

MoveArgs ReplicaForward::move_args(const egg_evaluate& e, const SiteShape& site, uint32_t stream,
                                   uint32_t place) const {
  const uint32_t horizon = plan_.sites.horizon(site);
  return {plan_.noise.seed,
          e.step,
          stream,
          place,
          site.tokens,
          site.number,
          site.site.draws,
          site.site.amplitude,
          site.site.design == EGG_DRAWS_ORTHOGONAL ? 1U : 0U,
          site.size,
          0,
          nullptr,
          horizon > 0 ? later_cache_.get() : nullptr,
          1 + horizon,
          plan_.sites.cached_bytes};
}

// From the losses of draws at these places.
void ReplicaForward::make_errors(const ForwardArgs& args, const SiteShape& site, size_t first_place) {
  SiteErrorArgs made{};
  made.losses = args.losses;
  made.later = plan_.sites.horizon(site) > 0 ? later_losses_.get() : nullptr;
  made.targets = args.targets;
  made.move = args.move;
  made.places = args.rows / args.members_per_stream;
  made.limit = egg_draw_limit(site.site.draws);
  made.shift = site.site.shift;
  made.error_stride = SitePlan::error_stride(site);
  made.errors = errors(site, first_place);
  made.perturbed = perturbed(site, first_place);
  made.sums = sums_.get() + site.number;
  launch_site_errors(made, stream_);
}

// The same members go on with whole tokens of the unperturbed model, from their states after their place's token.
void ReplicaForward::draw_later(const ForwardArgs& at_token, uint32_t horizon, size_t behind) {
  const BehindPlan& planned = own_.behind[behind];
  const uint32_t places = at_token.rows / at_token.members_per_stream;
  launch_later_tokens({at_token.inputs, at_token.targets, at_token.resets, at_token.row_numbers, at_token.index_count,
                       at_token.move.place, places, at_token.move.tokens, horizon, later_inputs_.get(),
                       later_targets_.get(), later_resets_.get(), later_rows_.get()},
                      stream_);
  ForwardArgs args = passes_.args(planned.later ? passes_.behind()[behind].later : passes_.whole());
  args.tokens = horizon;
  args.rows = at_token.rows;
  args.members_per_stream = at_token.members_per_stream;
  args.inputs = later_inputs_.get();
  args.targets = later_targets_.get();
  args.resets = later_resets_.get();
  args.row_numbers = later_rows_.get();
  args.noise = noise_.plain();
  args.states = at_token.states;
  args.losses = later_losses_.get();
  if (planned.later) {
    args.kept = at_token.kept;
    args.first_kept = at_token.first_kept;
    args.move = at_token.move;
    args.move.later = 1;
    return passes_.launch_draws(args, *planned.later, planned.later_blocks);
  }
  if (!own_.later) return passes_.launch(args, stream_);
  args.noise = noise_.plain_of_later();
  passes_.launch_later(args);
}

void ReplicaForward::finish_sites(const egg_evaluate& e, const std::vector<Part>& parts) const {
  for (const Part& part : parts) {
    if (!part.is_of_sites) continue;
    const uint32_t first = part.members.first / e.members_per_stream - plan_.sites.first_stream;
    for (uint32_t i = 0; i < part.members.count; ++i) {
      e.losses[part.members.first - e.first + i] = host_site_losses_.get()[first + i / e.members_per_stream];
    }
  }
}

void ReplicaForward::add_site_sums(const egg_evaluate& e) const {
  if (own_.own_members(e.first, e.count).count == 0) return;
  for (size_t i = 0; i < plan_.sites.sites.size(); ++i) {
    e.sites[i].tokens += host_sums_.get()[i].tokens;
    e.sites[i].squares += host_sums_.get()[i].squares;
  }
}

}  // namespace eggroll::cuda
