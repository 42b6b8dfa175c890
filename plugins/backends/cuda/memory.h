// How much device memory a replica takes, computed before it takes any. Each array that lasts as long as the session
// has a name here: the plan counts it and the replica takes it by that name, so the two cannot differ. Host
// code, no CUDA calls. Sizes are in bytes unless they say otherwise.
#ifndef EGGROLL_CUDA_MEMORY_H
#define EGGROLL_CUDA_MEMORY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/lowered_program.h"
#include "plan.h"

namespace eggroll::cuda {

// Left free for the driver, and for arrays that grow with the tokens of calls, which a plan does not know: the tokens
// of a call and of the next call, lists of streams by row, streams of the unperturbed model.
constexpr uint64_t kCallReserve = uint64_t{1} << 30;
// Noise is made for as many pairs at once as fit in this, or in half of what all else leaves, because other sessions
// use the device too. The next step's noise may take half of what is left after that.
constexpr uint64_t kMostNoise = uint64_t{16} << 30;

// The arrays of a replica, except those of its parameters and of its program's lookup tables.
enum class Area : uint8_t {
  kNoiseValues,
  kNoiseTable,
  kOps,
  kFusedStages,
  kFusedPlaces,
  kHandedOver,  // see FusedArgs
  kStageSources,
  kNoiseParts,
  kVoteNoiseParts,
  kLossTables,
  kMatrixVoteJobs,
  kVectorVoteJobs,
  kRowTables,
  kReaders,
  kRowCounters,
  kRowVariances,
  kRowBegins,
  kRuleJobs,
  kFormJobs,
  kRuleNodes,
  kSlotPlaces,
  kScalars,
  kVoteStds,
  kChanged,
  kChecksum,
  kVotesOf,
  kStaging,  // for the largest parameter, as calls of the contract pass it
  kRuleScratch,
  kSiteSums,
  kSiteTables,
  kSiteReaders,
  kSiteCounters,
  kSiteMoments,
  kBehindOps,  // of draws within the program, of all sites
  kBehindSources,
  kBehindWorkspace,
  kPlainNoise,  // of the unperturbed model, one tile
  kLaterParts,  // the same as the tokens of a horizon read it, if they are fused
  kLaterNoise,
  // What follows grows with the population.
  kStates,
  kLosses,
  kFitness,
  kWorkspace,  // of all tiles that are at work at once
  kNoise,
  kNextNoise,  // if draws are made ahead
  kVotes,
  kAllVotes,
  kVotedRows,
  kKept,
  kSiteErrors,
  kSitePerturbed,
  kSiteLosses,
  kSiteReadPlaces,
  kSiteReadTokens,
  kSitePieces,
  kSiteVotedRows,
  kSiteVotes,
  kBehindLosses,
  kBehindStates,  // with a horizon: of draws, after their token
  kLaterLosses,   // likewise, of the tokens of the horizon
  kLaterInputs,   // likewise, these tokens
  kLaterTargets,
  kLaterResets,
  kLaterRows,
  kLaterCache,  // keys and values of draws with a horizon
  kCount,
};
using AreaBytes = std::array<size_t, static_cast<size_t>(Area::kCount)>;

// A parameter on the device. A vector has one row, and its size is `cols`.
struct ParamMemory : LoweredParam {
  uint32_t stride;        // of a row of weights
  size_t fragment_bytes;  // as linears without a ring read it, else 0
  size_t stage_bytes;     // as those with one do, or as the fused forward pass does
  size_t later_bytes;     // as the tokens of a horizon do, if they are fused
  size_t slot_cells;      // of all slots
  size_t votes_offset;    // cells before its votes; those of masked tables are the last
  size_t counts_offset;   // of a masked table: cells before its rows' counts of voters
  size_t begins_offset;   // likewise: rows of those before it
};

constexpr size_t kRowCounters = 3;  // of a masked table: of its list of streams, its pieces, and its rows with votes

// The number of neighbouring pairs that must be on one device, because a stream of a site runs once, on one device.
inline uint32_t pairs_of_share(const egg_session_spec& spec) {
  return spec.site_count > 0 ? spec.members_per_stream / 2 : 1;
}

struct MemoryPlan {
  // room: free bytes on the device. most_blocks: blocks of the forward pass that can run on it at once. devices: the
  // number of devices that share the session. shares_votes: see ReplicaPlan.
  MemoryPlan(const Plan& plan, const egg_session_spec& spec, uint64_t room, uint32_t most_blocks, uint32_t devices,
             bool shares_votes, const std::vector<BehindPlan>& behind = {}, const std::optional<Plan>& later = {});

  uint32_t most_blocks() const { return most_blocks_; }
  // The fewest bytes that a population takes: with noise only for the tiles that run at once.
  uint64_t least(uint32_t population) const;
  // The most bytes that a population may take.
  uint64_t most() const { return room_ - (room_ < kCallReserve ? room_ : kCallReserve); }
  // Fills in what depends on the population. least(population) must not exceed most().
  void choose(uint32_t population);

  // The size of one array. choose() must have been called.
  size_t bytes(Area area) const { return bytes_[static_cast<size_t>(area)]; }

  std::vector<ParamMemory> params;
  // Cells: votes of all that is not masked; squares of inputs by column of matrices and by
  // channel of vectors that vote with sites; counts of voters by row; votes of masked tables.
  size_t votes = 0;
  size_t squares = 0;       // cells before those
  size_t counts = 0;        // likewise
  size_t masked_votes = 0;  // of those cells, the last ones
  size_t noise_tile = 0;    // of a tile's pairs

  uint32_t members = 0;      // of the largest share
  uint32_t blocks = 0;       // of the forward pass at once
  uint32_t noise_tiles = 0;  // whose noise is in memory at once
  // Whether memory holds the draws of the next step in addition to those of this step.
  bool draws_ahead = false;
  // Whether the votes of masked tables lie in memory until all are made. If memory holds the noise of all pairs at
  // once, the rule takes most of these votes row by row.
  bool keeps_row_votes = true;
  uint64_t total = 0;  // of all that lasts as long as the session

 private:
  void add_param(uint32_t i, const Plan& plan, const egg_rule& rule, const std::vector<BehindPlan>& behind,
                 const std::optional<Plan>& later);
  void set_areas(const Plan& plan, const egg_rule& rule);
  void set_areas_of_passes(const Plan& plan, const std::vector<BehindPlan>& behind, const std::optional<Plan>& later);
  void place_votes();
  uint32_t pairs_for(uint32_t population) const;
  uint32_t blocks_for(uint32_t population) const;
  uint32_t least_noise_tiles(uint32_t population) const;
  AreaBytes bytes_for(uint32_t population, uint32_t tiles_of_noise, bool with_row_votes) const;
  uint64_t total_for(uint32_t population, uint32_t tiles_of_noise, bool with_row_votes) const;
  uint64_t whole(uint32_t population) const;

  egg_session_spec spec_;
  uint64_t room_;
  uint32_t most_blocks_;
  uint32_t devices_;
  bool shares_votes_;
  uint32_t tiles_;  // of a block
  size_t tile_workspace_;
  size_t state_stride_;
  SitePlan sites_;
  AreaBytes bytes_{};      // until choose(), of the areas that do not grow with the population
  uint64_t listed_ = 0;    // of parameters and lookup tables
  size_t table_rows_ = 0;  // of all masked tables
};

}  // namespace eggroll::cuda

#endif
