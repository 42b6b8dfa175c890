// The part of a session's plan that asks the driver: how much the devices have room for.
#include <algorithm>

#include "device.h"
#include "forward.h"
#include "replica_plan.h"

namespace eggroll::cuda {
namespace {

uint32_t attribute(int device, cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "describe itself");
  return static_cast<uint32_t>(value);
}

std::string name_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "describe itself");
  return properties.name;
}

// Bytes that are free on the current device, and bytes that its pool keeps from closed sessions.
uint64_t free_memory(int device) {
  size_t free = 0;
  size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "report its free memory");
  cudaMemPool_t pool = nullptr;
  uint64_t kept = 0;
  uint64_t used = 0;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "give its pool of memory");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &kept), "describe its pool of memory");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "describe its pool of memory");
  return free + kept - used;
}

struct Choice {
  Plan plan;
  uint32_t blocks;  // at once
};

// A multiprocessor works on two tiles at once if both fit and there are more tiles than multiprocessors, and on three
// or four tiles of fused ops with few channels. With a ring of weights, a block has both tiles, and only what linears
// read must be on chip. Without a ring, each tile has its own block, and all its values must be on chip.
Choice choose_plan(const egg_session_spec& spec, int device, uint32_t members, bool may_fuse) {
  constexpr uint32_t kReserved = 1024;  // of every block, by the driver
  const uint32_t multiprocessors = attribute(device, cudaDevAttrMultiProcessorCount);
  const uint32_t whole = attribute(device, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const uint32_t half = attribute(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2 - kReserved;
  const uint32_t stages = forward_stages();
  const auto plan = [&](uint32_t bytes, uint32_t tiles, uint32_t fewest_stages) {
    // Each state may have to be loaded by an op of its own, and each value kept by one.
    const uint32_t ops = spec.program->op_count + (spec.site_count > 0 ? 2 : 1) * spec.program->value_count;
    const uint32_t extra = forward_extra_shared(static_cast<uint32_t>(spec.noise.rank), ops, tiles);
    return Plan(spec, Room{whole, bytes - std::min(bytes, extra), tiles, fewest_stages, stages, may_fuse});
  };
  if (stages > 0) {
    const auto is_few = [&](const Plan& p) {
      const uint32_t in_tile = p.fused ? tile_members(p.fused->shape) : kTileRows;
      return divide_up(members, in_tile) <= multiprocessors;
    };
    Plan one = plan(whole, 1, 3);
    if (is_few(one)) return {std::move(one), multiprocessors};
    Plan two = plan(whole, 2, 3);
    // Logits that two tiles keep on chip are not made twice for more tiles.
    const auto keeps = [](const Plan& p) { return p.fused && p.fused->logit_blocks > 0; };
    for (uint32_t tiles = kMostFusedTiles; tiles > 2; --tiles) {
      Plan more = plan(whole, tiles, 3);
      if (more.fused && (keeps(more) || !keeps(two))) return {std::move(more), multiprocessors};
    }
    if (two.fused) return {std::move(two), multiprocessors};
    // A single tile of tokens is faster than two tiles op by op.
    if (one.fused && has_tokens(one.fused->shape.rows)) return {std::move(one), multiprocessors};
    // Three stages let two tiles drift apart a little; two are the fewest that work.
    if (two.all_streamed) return {std::move(two), multiprocessors};
    Plan short_ring = plan(whole, 2, 2);
    if (short_ring.all_streamed) return {std::move(short_ring), multiprocessors};
    return {plan(whole, 1, 2), multiprocessors};
  }
  Plan beside = plan(half, 1, 0);
  if (!beside.all_shared) {
    Plan alone = plan(whole, 1, 0);
    if (alone.all_shared) return {std::move(alone), multiprocessors};
  }
  return {std::move(beside), 2 * multiprocessors};
}

bool can_read(int device, int other) {
  int can = 0;
  if (device != other) check(cudaDeviceCanAccessPeer(&can, device, other), "describe itself");
  return device == other || can != 0;
}

// Whether each of several devices can read the memory of the other devices.
bool can_read_others(const std::vector<int>& devices) {
  for (const int device : devices) {
    for (const int other : devices) {
      if (!can_read(device, other)) return false;
    }
  }
  return devices.size() > 1;
}

// Whether members vote on rows of tables. Adding up such votes between devices takes longer than making them, so
// each device makes the votes of all pairs on its own rows.
bool has_voted_rows(const egg_session_spec& spec) {
  return spec.voters != nullptr &&
         std::any_of(spec.voters, spec.voters + spec.program->param_count,
                     [](const egg_voters& voters) { return voters.masked != 0 && voters.site == 0; });
}

// A plan of draws: their attention reads what the streams keep, and a cache of their own. is_behind(op): whether the
// draws change what the op reads at their place.
template <class IsBehind>
Choice choose_plan_of_draws(const egg_session_spec& spec, const Plan& whole, const egg_program& program, int device,
                            const IsBehind& is_behind) {
  egg_session_spec own = spec;
  own.program = &program;
  own.sites = nullptr;
  own.site_count = 0;
  Choice choice = choose_plan(own, device, kMostDrawMembers, false);
  Plan& plan = choice.plan;
  plan.full_ops = true;
  std::vector<uint32_t> cached(spec.program->value_count);  // by what an attention makes: where its part begins
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < spec.program->op_count; ++i) {
    const egg_op& op = spec.program->ops[i];
    if (op.code != EGG_OP_ATTENTION) continue;
    cached[static_cast<size_t>(op.out)] = bytes;
    bytes += SitePlan::cached_bytes_of(*spec.program, op);
  }
  for (size_t k = 0; k < plan.steps.size(); ++k) {
    if (plan.steps[k].loads >= 0 || plan.ops[k].code != EGG_OP_ATTENTION) continue;
    const egg_op& op = program.ops[plan.steps[k].op];
    plan.ops[k].code = kAttendOfDraw;
    plan.ops[k].keys_offset = whole.sites.kept_offset(op.in[1]);
    plan.ops[k].values_offset = whole.sites.kept_offset(op.in[2]);
    plan.ops[k].scores_offset = cached[static_cast<size_t>(op.out)];
    plan.ops[k].of_stream = is_behind(op) ? 0 : 1;
  }
  return choice;
}

// Draws within the program, as a program that begins with what the streams keep.
std::vector<BehindPlan> plans_behind(const egg_session_spec& spec, const Plan& whole, int device) {
  std::vector<BehindPlan> plans;
  for (uint32_t i = 0; i < spec.site_count; ++i) {
    const int32_t value = spec.sites[i].value;
    if (is_at_loss(*spec.program, value)) continue;
    auto program = std::make_unique<BehindProgram>(*spec.program, spec.sites[i]);
    Choice choice = choose_plan_of_draws(spec, whole, program->view, device, [](const egg_op&) { return true; });
    Plan& plan = choice.plan;
    for (size_t k = 0; k < plan.steps.size(); ++k) {
      const Step& step = plan.steps[k];
      if (step.loads >= 0) {
        plan.ops[k].code = step.loads == value ? kMove : kTake;
        plan.ops[k].keys_offset = whole.sites.kept_offset(step.loads);
      } else if (plan.ops[k].code == EGG_OP_STORE) {
        // The states are those of the whole program, which goes on from there.
        plan.ops[k].state_offset = whole.state_place(program->view.ops[step.op].out);
      }
    }
    BehindPlan& made = plans.emplace_back(BehindPlan{i, std::move(program), std::move(plan), choice.blocks});
    if (spec.sites[i].horizon == 0 || spec.program->context == 0) continue;
    made.later_program = std::make_unique<egg_program>(*spec.program);
    made.later_program->context = 0;  // no caches in the workspace
    const std::vector<egg_op>& behind = made.program->ops;
    Choice later = choose_plan_of_draws(spec, whole, *made.later_program, device, [&](const egg_op& attention) {
      return std::any_of(behind.begin(), behind.end(), [&](const egg_op& op) { return op.out == attention.out; });
    });
    made.later = std::move(later.plan);
    made.later_blocks = later.blocks;
  }
  return plans;
}

// Plans the tokens of a horizon if they can be fused. Nothing is perturbed there, so the noise is laid out as the fused
// ops need it, of one rank, and tables that are only looked up have none.
std::optional<Plan> plan_later(const egg_session_spec& spec, const Plan& whole, int device) {
  const auto goes_on = [](const egg_site& site) { return site.horizon > 0; };
  if (spec.program->context > 0 || std::none_of(spec.sites, spec.sites + spec.site_count, goes_on)) return std::nullopt;
  std::vector<egg_voters> voters;
  for (const LoweredParam& param : whole.params) {
    const bool has_none = param.by_lookup && !param.by_product;
    voters.push_back({0, spec.population / 2, 0, has_none ? 1 : 0});
  }
  egg_session_spec own = spec;
  own.sites = nullptr;
  own.site_count = 0;
  own.voters = voters.data();
  own.noise.rank = 1;
  Choice choice = choose_plan(own, device, kMostDrawMembers, true);
  if (!choice.plan.fused) return std::nullopt;
  return std::move(choice.plan);
}

}  // namespace

std::vector<ReplicaPlan> plan_replicas(const egg_session_spec& spec, const std::vector<int>& devices) {
  const auto count = static_cast<uint32_t>(devices.size());
  const uint32_t whole = pairs_of_share(spec);
  const auto share = [&](uint32_t pairs, uint32_t d) {
    return static_cast<uint32_t>(uint64_t{pairs / whole} * d / count) * whole;
  };
  const bool shares_votes = can_read_others(devices);
  if (spec.site_count > 0 && count > 1 && !shares_votes) {
    throw Error(
        "groups of sites on several GPUs need GPUs that read each other's memory, and these do not; name one of "
        "them in backend.devices",
        EGG_ERROR_DEVICE);
  }
  const bool shares_rows = shares_votes && (spec.site_count > 0 || has_voted_rows(spec));
  std::vector<ReplicaPlan> replicas;
  for (uint32_t d = 0; d < count; ++d) {
    const int device = devices[d];
    check(cudaSetDevice(device), "be selected");
    const uint32_t first = share(spec.members / 2, d);
    const uint32_t pairs = share(spec.members / 2, d + 1) - first;
    const uint32_t first_vote = shares_votes ? share(spec.population / 2, d) : 0;
    const uint32_t votes = shares_votes ? share(spec.population / 2, d + 1) - first_vote : spec.population / 2;
    // Fused ops keep no values for sites.
    Choice choice = choose_plan(spec, device, 2 * pairs, spec.site_count == 0);
    std::vector<BehindPlan> behind = plans_behind(spec, choice.plan, device);
    std::optional<Plan> later = plan_later(spec, choice.plan, device);
    const MemoryPlan memory(choice.plan, spec, free_memory(device), choice.blocks, count, shares_votes, behind, later);
    replicas.push_back({device, name_of(device), spec.first / 2 + first, pairs, shares_votes, first_vote, votes,
                        shares_rows ? d : 0, shares_rows ? count : 1, std::move(choice.plan), memory, std::move(behind),
                        std::move(later)});
  }
  fit(replicas, spec.population);
  return replicas;
}

}  // namespace eggroll::cuda
