#include "replica_plan.h"

#include <algorithm>
#include <map>

namespace eggroll::cuda {
namespace {

std::string text_of(const Plan& plan) {
  const auto linears =
      std::count_if(plan.ops.begin(), plan.ops.end(), [](const DeviceOp& op) { return op.code == EGG_OP_LINEAR; });
  const size_t others = static_cast<size_t>(linears) - plan.streams.size();
  static constexpr const char* kTiles[] = {"one tile", "two tiles", "three tiles", "four tiles"};
  std::string text = kTiles[plan.tiles - 1];
  if (plan.fused && has_tokens(plan.fused->shape.rows)) {
    const FusedShape& shape = plan.fused->shape;
    text += " of " + std::to_string(shape.span) + " tokens of " + std::to_string(tile_members(shape)) + " members";
  } else {
    text += " of " + std::to_string(kTileRows) + " members";
  }
  text += " a block, ";
  if (plan.fused) {
    const FusedShape& shape = plan.fused->shape;
    if (shape.warpgroups > 1) text += "shared by two warpgroups, ";
    return text + "layers as fused ops with rings of " + std::to_string(shape.stages) + " stages of weights and " +
           std::to_string(shape.noise_stages) + " of noise";
  }
  if (plan.stages > 0) {
    text += "linears on wgmma with a ring of " + std::to_string(plan.stages) + " stages";
    if (others > 0) text += " but for " + std::to_string(others) + " of " + std::to_string(linears) + " on mma.sync";
  } else {
    text += "linears on mma.sync";
  }
  return text + (plan.all_shared ? ", all values on chip" : ", some values in device memory");
}

std::string names_of(const std::vector<ReplicaPlan>& replicas) {
  std::map<std::string, size_t> counts;
  for (const ReplicaPlan& replica : replicas) ++counts[replica.device_name];
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : " and ") + (count > 1 ? std::to_string(count) + " x " : "") + name;
  }
  return text;
}

}  // namespace

Range ReplicaPlan::own_members(uint32_t first, uint32_t count) const {
  const uint32_t begin = std::max(first, first_member());
  const uint32_t end = std::min(first + count, first_member() + members());
  return {begin, end > begin ? end - begin : 0};
}

Range ReplicaPlan::own_places(const SiteShape& site) const {
  const uint32_t in_stream = plan.sites.pairs_of_stream;
  const uint32_t first = std::max(first_pair / in_stream, site.first_stream);
  const uint32_t end = std::min((first_pair + pairs) / in_stream, site.first_stream + site.streams);
  if (end <= first) return {0, 0};
  return {static_cast<uint32_t>(site.place(first, 0)), (end - first) * site.tokens};
}

void fit(std::vector<ReplicaPlan>& replicas, uint32_t population) {
  const MemoryPlan* tightest = nullptr;
  uint32_t largest = population;
  for (const ReplicaPlan& replica : replicas) {
    const MemoryPlan& memory = replica.memory;
    const uint32_t fits = largest_population(population, memory.most(), [&](uint32_t p) { return memory.least(p); });
    if (fits >= largest) continue;
    largest = fits;
    tightest = &memory;
  }
  if (tightest != nullptr) throw no_room(population, tightest->least(population), tightest->most(), largest);
  for (ReplicaPlan& replica : replicas) replica.memory.choose(population);
}

SessionPlan describe(const std::vector<ReplicaPlan>& replicas) {
  const ReplicaPlan& fullest =
      *std::max_element(replicas.begin(), replicas.end(),
                        [](const ReplicaPlan& a, const ReplicaPlan& b) { return a.memory.total < b.memory.total; });
  std::string text = text_of(fullest.plan) + ", noise of " +
                     std::to_string(uint64_t{fullest.memory.noise_tiles} * kTilePairs) + " pairs at a time";
  if (replicas.size() > 1) text += ", members shared by " + std::to_string(replicas.size()) + " GPUs";
  return {fullest.memory.total, names_of(replicas), text};
}

}  // namespace eggroll::cuda
