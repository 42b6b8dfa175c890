// What a device's backend works out from a program in addition to LoweredProgram: the ops as kernels run them, the
// places of states in the device's memory, and the jobs of a launch.
#ifndef EGGROLL_DEVICE_PROGRAM_H
#define EGGROLL_DEVICE_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/backend.h"
#include "eggroll/lowered_program.h"

namespace eggroll {

struct DeviceProgram : LoweredProgram {
  // padding: each state takes a multiple of this number of bytes.
  DeviceProgram(const egg_session_spec& spec, size_t padding) : LoweredProgram(spec) {
    for (const LoweredState& state : states) {
      state_places.push_back(state_stride);
      state_stride += (state.size + padding - 1) / padding * padding;
    }
  }

  // The step as an op. load: the code of the op that loads a state.
  egg_op op_of(const Step& step, int32_t load) const {
    if (step.loads < 0) return program->ops[step.op];
    egg_op op{};
    op.code = load;
    op.out = step.loads;
    op.in[0] = op.in[1] = op.in[2] = op.param[0] = op.param[1] = op.table = -1;
    return op;
  }
  // The state that a step loads, stores, or reads in place; -1: none.
  int32_t state_at(const Step& step) const {
    if (step.loads >= 0) return step.loads;
    const egg_op& op = program->ops[step.op];
    if (op.code == EGG_OP_STORE) return op.out;
    return op.code == EGG_OP_LOSS && is_state(*program, op.in[0]) ? op.in[0] : -1;
  }
  // Where the value's state begins among a member's states on the device.
  uint32_t state_place(int32_t value) const { return static_cast<uint32_t>(state_places[state_of(value)]); }

  // Calls copy(outside, inside, bytes) for every state of members [begin, end). States cross the seam without the
  // padding that they have on the device.
  template <class Copy>
  void each_state(size_t begin, size_t end, const Copy& copy) const {
    for (size_t m = begin; m < end; ++m) {
      for (size_t s = 0; s < states.size(); ++s) {
        copy(m * state_bytes + states[s].offset, m * state_stride + state_places[s], states[s].size);
      }
    }
  }

  std::vector<size_t> state_places;  // by state
  size_t state_stride = 0;           // of a member on the device: its states, and what else a backend keeps there
};

// The jobs of a launch, in the order of their pieces.
template <class Job>
struct PieceList {
  void add(Job job, uint32_t its_pieces) {
    job.first = pieces;
    pieces += its_pieces;
    jobs.push_back(job);
  }
  // The jobs of those parameters alone that an update chooses.
  PieceList chosen(const egg_update& update) const {
    PieceList list;
    for (size_t i = 0; i < jobs.size(); ++i) {
      const uint32_t end = i + 1 < jobs.size() ? jobs[i + 1].first : pieces;
      if (is_chosen(update, jobs[i].param)) list.add(jobs[i], end - jobs[i].first);
    }
    return list;
  }

  std::vector<Job> jobs;
  uint32_t pieces = 0;
};

}  // namespace eggroll

#endif
