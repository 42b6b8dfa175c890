// What the backend computes once from a program and a rule: the device's ops, where each value lies, a pair's noise,
// and the jobs of votes and rules.
#ifndef EGGROLL_METAL_PLAN_H
#define EGGROLL_METAL_PLAN_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/device_program.h"
#include "eggroll/site_errors.h"
#include "site_layout.h"

namespace eggroll::metal {

// A parameter on the device: padded rows of weights, then its votes and slots, a cell a weight. A vector lies in one
// row: its size is cols here.
struct ParamPlace : LoweredParam {
  uint32_t stride;   // bytes of a row
  uint32_t weights;  // bytes before its first
  uint32_t halves;   // before its first, or kNoHalves: see half_place
  uint32_t cells;    // before its votes; masked: none
  uint32_t slots;    // cells before its first slot's
};

constexpr size_t kHalfBytes = 2;

// Whether a session can have the site: one at what the loss reads has up to kMostDrawRows channels.
bool has_site(const egg_program& program, const egg_site& site);

// A value that is kept for each place.
struct KeptValue {
  int32_t value;
  bool always;      // as attention reads it; else a place without a target has zeros
  uint32_t offset;  // in a place's record
};

// The most members of draws within the program that a call of the forward pass has, and the most bytes that they keep.
// The members of a single place may exceed both.
constexpr uint32_t kMostDrawMembers = 1U << 20;
constexpr uint32_t kMostDrawBytes = 1U << 26;

// What the members of a site's draws run: at their place's token the ops after the value, and then, if the site has a
// horizon, whole tokens. There are no ops if the site is at what the loss reads.
struct DrawPlan {
  std::vector<DeviceOp> ops;
  uint32_t place_ops = 0;     // as in ForwardArgs
  uint32_t tokens = 1;        // that a member reads at most
  uint32_t record_bytes = 0;  // that a member keeps: with a horizon its states, then its loss
  uint32_t most_places = 0;   // whose draws are a call of the forward pass
};

// A matrix or a vector that votes with a site: its deviations begin at `std`, a matrix's squares at the cell `squares`,
// one read's columns after another's.
struct SiteVoter {
  uint32_t param;
  uint32_t site;
  uint32_t columns;  // 0: a vector
  uint32_t squares;
  uint32_t reads;
  uint32_t std;
};

// A table that votes with a site. reads: what says the row, as egg_op.attr.
struct SiteTable {
  uint32_t site;
  MaskedJob job;
  std::vector<int32_t> reads;
};

// A place of a site that reads a row of a table.
struct SiteRead {
  uint32_t row;
  uint32_t place;
};

// What the sites of a session need: their streams, of which each runs as one row, what is kept of these, and who votes.
struct SitePlan {
  std::vector<SiteShape> shapes;
  uint32_t first_stream = 0;  // of those of any site
  uint32_t streams = 0;       // from there to the last
  uint32_t tokens = 0;        // of a stream
  std::vector<KeptValue> kept;
  uint32_t kept_bytes = 0;      // of a place
  std::vector<DeviceOp> ops;    // the program's, and those that keep values
  std::vector<DrawPlan> draws;  // by site
  PieceList<SiteVoteJob> votes;
  std::vector<SiteVoter> voters;
  std::vector<SiteTable> tables;
  uint32_t stds = 0;  // deviations of columns

  static uint32_t error_bytes(const SiteShape& site) {  // of a place
    return padded(site.size, kBlock) * static_cast<uint32_t>(sizeof(int16_t)) + kSquareBytes;
  }
  // Bytes of errors before those of a stream of the site.
  size_t first_error(const SiteShape& site, uint32_t stream) const {
    size_t bytes = site.place(stream, 0) * error_bytes(site);
    for (uint32_t i = 0; i < site.number; ++i) bytes += shapes[i].places() * error_bytes(shapes[i]);
    return bytes;
  }
  // The record of a stream's first token.
  uint32_t first_kept(uint32_t stream) const { return (stream - first_stream) * tokens; }
  std::vector<KeptValue>::const_iterator find_kept(int32_t value, bool always) const {
    return std::find_if(kept.begin(), kept.end(),
                        [&](const KeptValue& k) { return k.value == value && k.always == always; });
  }
  bool is_kept(int32_t value, bool always) const { return find_kept(value, always) != kept.end(); }
  uint32_t kept_offset(int32_t value, bool always = false) const { return find_kept(value, always)->offset; }
};

struct Plan : DeviceProgram {
  // block_inputs: products that linear adds up as float32, a multiple of kBlock. Throws Error if such a sum is not
  // exact, or if a part of the program would pass 4 GiB.
  explicit Plan(const egg_session_spec& spec, uint32_t block_inputs = kBlockInputs);

  uint32_t block_inputs;
  std::vector<DeviceOp> ops;
  std::vector<NoisePart> parts;
  std::vector<ParamPlace> places;  // by parameter
  std::vector<int32_t> tables;     // entries of all
  // The loss's own, and one whose exponentials are those of draws at the logits.
  size_t loss_tables() const { return sites.shapes.empty() ? 1 : 2; }
  PieceList<VoteJob> votes;
  PieceList<RuleJob> rules;
  std::vector<MaskedJob> masked;  // tables, which keep no votes
  SitePlan sites;
  uint32_t noise_bytes = 0;  // of a pair
  size_t weight_bytes = 0;   // of all parameters
  size_t halves = 0;         // weights that lie as halves too, with padding
  size_t cells = 0;          // votes of all parameters but tables of masks and sites, squares of columns
  size_t masked_rows = 0;    // of all masked tables
  size_t slot_cells = 0;     // of all parameters and slots
  size_t workspace = 0;      // bytes of a tile
};

}  // namespace eggroll::metal

#endif
