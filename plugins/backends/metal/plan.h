// What the backend works out once from a program and a rule: the device's ops, where each value lives, a pair's noise,
// and the jobs of votes and rules.
#ifndef EGGROLL_METAL_PLAN_H
#define EGGROLL_METAL_PLAN_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/backend.h"
#include "eggroll/lowered_program.h"
#include "layout.h"

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

// The jobs of a launch, in the order of their pieces.
template <class Job>
struct JobList {
  void add(Job job, uint32_t its_pieces) {
    job.first = pieces;
    pieces += its_pieces;
    jobs.push_back(job);
  }
  // Those of the parameters that an update chooses.
  JobList chosen(const egg_update& update) const {
    JobList list;
    for (size_t i = 0; i < jobs.size(); ++i) {
      const uint32_t end = i + 1 < jobs.size() ? jobs[i + 1].first : pieces;
      if (is_chosen(update, jobs[i].param)) list.add(jobs[i], end - jobs[i].first);
    }
    return list;
  }

  std::vector<Job> jobs;
  uint32_t pieces = 0;
};

constexpr size_t kHalfBytes = 2;

struct Plan : LoweredProgram {
  // block_inputs: products that linear adds up as float32, a multiple of kBlock. Throws Error where such a sum is not
  // exact, or where a part of the program would pass 4 GiB.
  explicit Plan(const egg_session_spec& spec, uint32_t block_inputs = kBlockInputs);

  uint32_t block_inputs;
  std::vector<DeviceOp> ops;
  std::vector<NoisePart> parts;
  std::vector<ParamPlace> places;      // by parameter
  std::vector<uint32_t> state_places;  // by state: bytes before it in a member's states on the device
  uint32_t state_place(int32_t value) const { return state_places[state_of(value)]; }
  std::vector<int32_t> tables;  // entries of all
  JobList<VoteJob> votes;
  JobList<RuleJob> rules;
  std::vector<MaskedJob> masked;  // tables, which keep no votes
  uint32_t noise_bytes = 0;       // of a pair
  size_t weight_bytes = 0;        // of all parameters
  size_t halves = 0;              // weights that lie as halves too, with padding
  size_t cells = 0;               // votes of all parameters but the masked
  size_t masked_rows = 0;         // of all masked tables
  size_t slot_cells = 0;          // of all parameters and slots
  uint32_t state_stride = 0;      // of what a member keeps on the device: its states, then kLossBytes
  size_t workspace = 0;           // bytes of a tile
};

}  // namespace eggroll::metal

#endif
