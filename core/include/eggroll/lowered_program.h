// What every backend works out from a program, its noise and its voters before it lays anything out: the steps of a
// token, how long each value is needed, the states as they cross the seam, and what a pair draws for each parameter.
#ifndef EGGROLL_LOWERED_PROGRAM_H
#define EGGROLL_LOWERED_PROGRAM_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "eggroll/arithmetic.h"
#include "eggroll/op_signature.h"
#include "eggroll/row_voters.h"

namespace eggroll {

// Either an op of the program or the loading of a state; the field of the other kind is -1.
struct Step {
  int32_t op;
  int32_t loads;
};

// A value's stay in memory: from the step that makes it to the last that reads it.
struct Stay {
  static constexpr int32_t kNever = -1;
  int32_t begin = kNever;
  int32_t end = kNever;
  void include(int32_t step) {
    if (begin == kNever) begin = step;
    end = std::max(end, step);
  }
};

struct LoweredState {
  uint32_t value;
  uint32_t size;
  size_t offset;  // in a member's states, as they cross the seam
};

struct LoweredParam {
  bool vector;
  bool perturbed;  // by some pairs, or by none
  bool masked;
  bool by_lookup;    // an op reads rows of it
  bool by_product;   // an op multiplies with it
  uint32_t rows;     // and the numbers in a draw of side A
  uint32_t cols;     // 1 for a vector
  uint32_t b_count;  // numbers in a draw of side B: columns of a matrix, the size of a vector
  uint32_t ranks;    // draws of each side that a pair makes: 1 for a vector, 0 if no pair perturbs it
  int32_t shift;     // of A*B
  egg_voters voters;
  size_t count() const { return size_t{rows} * cols; }
};

inline bool is_state(const egg_program& program, int32_t value) {
  return value >= 0 && program.values[value].is_state != 0;
}

// The spec's program must outlive it.
struct LoweredProgram {
  explicit LoweredProgram(const egg_session_spec& spec) : program(spec.program), noise(spec.noise) {
    find_states();
    for (uint32_t i = 0; i < program->param_count; ++i) params.push_back(param_of(spec, i));
    find_steps();
    find_stays();
  }

  // The number of the state that holds this value, which must be the value of a state.
  size_t state_of(int32_t value) const {
    const auto found = std::find_if(states.begin(), states.end(), [&](const LoweredState& state) {
      return state.value == static_cast<uint32_t>(value);
    });
    return static_cast<size_t>(found - states.begin());
  }
  // Shifts of perturbations.
  int32_t matrix_shift() const { return program->fixed_point + noise.sigma_shift; }
  int32_t vector_shift() const { return program->fixed_point + noise.sigma_vector_shift; }
  // The shift of one rank's q in a product, which leaves EGG_LINEAR_GUARD_BITS for the sum.
  int32_t q_shift() const { return matrix_shift() - EGG_LINEAR_GUARD_BITS; }
  int32_t nearest() const { return program->rounding == EGG_ROUND_NEAREST ? 1 : 0; }

  const egg_program* program;
  egg_noise noise;
  std::vector<LoweredState> states;  // in the order of the program's values
  size_t state_bytes = 0;            // of a member, as they cross the seam
  std::vector<LoweredParam> params;
  std::vector<Step> steps;
  std::vector<Stay> stays;  // by value, counted in steps

 private:
  void find_states() {
    for (uint32_t i = 0; i < program->value_count; ++i) {
      if (program->values[i].is_state == 0) continue;
      const auto size = static_cast<uint32_t>(program->values[i].size);
      states.push_back({i, size, state_bytes});
      state_bytes += size;
    }
  }

  bool is_read_by(uint32_t param, OpAccess access) const {
    return std::any_of(program->ops, program->ops + program->op_count, [&](const egg_op& op) {
      return op.param[0] == static_cast<int32_t>(param) && signature_of(op).access == access;
    });
  }

  LoweredParam param_of(const egg_session_spec& spec, uint32_t i) const {
    const egg_param& from = program->params[i];
    LoweredParam param{};
    param.voters = voters_of(spec, i);
    param.vector = from.kind == EGG_PARAM_VECTOR;
    param.perturbed = from.perturbed != 0;
    param.masked = param.perturbed && param.voters.masked != 0;
    param.by_lookup = is_read_by(i, OpAccess::kLookup);
    param.by_product = is_read_by(i, OpAccess::kProduct);
    param.rows = static_cast<uint32_t>(from.rows);
    param.cols = static_cast<uint32_t>(from.cols);
    param.ranks = !param.perturbed || param.voters.site != 0 ? 0 : param.vector ? 1 : static_cast<uint32_t>(noise.rank);
    param.b_count = param.vector ? param.rows : param.cols;
    param.shift = param.vector ? vector_shift() : matrix_shift();
    return param;
  }

  // A state is loaded before its first reader and before anything is stored in it, so that its readers see what it was
  // when the token began.
  void find_steps() {
    std::vector<bool> loaded(program->value_count, false);
    std::vector<bool> is_read(program->value_count, false);
    for (uint32_t i = 0; i < program->op_count; ++i) {
      for (const int32_t in : program->ops[i].in) {
        if (is_state(*program, in)) is_read[static_cast<size_t>(in)] = true;
      }
    }
    for (uint32_t i = 0; i < program->op_count; ++i) {
      const egg_op& op = program->ops[i];
      for (const int32_t value : {op.in[0], op.in[1], op.in[2], op.out}) {
        if (!is_state(*program, value)) continue;
        const auto v = static_cast<size_t>(value);
        if (loaded[v] || !is_read[v]) continue;
        loaded[v] = true;
        steps.push_back({-1, value});
      }
      steps.push_back({static_cast<int32_t>(i), -1});
    }
  }

  // A store does not change what the state's readers see in this token, so it does not lengthen the value's stay.
  void find_stays() {
    stays.resize(program->value_count);
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto include = [&](int32_t value) {
        if (value >= 0) stays[static_cast<size_t>(value)].include(static_cast<int32_t>(i));
      };
      if (steps[i].loads >= 0) {
        include(steps[i].loads);
        continue;
      }
      const egg_op& op = program->ops[steps[i].op];
      for (const int32_t in : op.in) include(in);
      if (!is_state(*program, op.out)) include(op.out);
    }
  }
};

// Something that needs memory for a while.
struct Request {
  size_t bytes;
  Stay stay;

  // The lowest offset from `at` on where this request does not overlap `taken`, which lies at `offset`.
  size_t beside(size_t at, const Request& taken, size_t offset) const {
    if (taken.stay.begin > stay.end || stay.begin > taken.stay.end) return at;
    return at < offset + taken.bytes && offset < at + bytes ? offset + taken.bytes : at;
  }
};

// First fit: each request gets the lowest offset where it overlaps none of the requests before it. A kind of request
// may allow two to overlap, if the second gets the offset of the first. Requests whose stays do not meet cost nothing,
// so a long program whose values live shortly is planned in about linear time.
template <class Kind = Request>
class FirstFit {
 public:
  static constexpr size_t kNoRoom = SIZE_MAX;

  // Returns the offset, or kNoRoom where it would end beyond the limit; then nothing is taken.
  size_t take(const Kind& request, size_t limit = SIZE_MAX) {
    find_met(request.stay);
    size_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Taken* t : met_) {
        const size_t next = request.beside(at, t->request, t->offset);
        moved = moved || next > at;
        at = next;
      }
    }
    for (const Taken* t : met_) {
      if (request.beside(t->offset, t->request, t->offset) != t->offset) continue;
      const bool fits = std::all_of(met_.begin(), met_.end(), [&](const Taken* other) {
        return request.beside(t->offset, other->request, other->offset) == t->offset;
      });
      if (fits) at = std::min(at, t->offset);
    }
    if (request.bytes > limit || at > limit - request.bytes) return kNoRoom;
    taken_[length_class(request.stay)].insert({request.stay.begin, {at, request}});
    size_ = std::max(size_, at + request.bytes);
    return at;
  }
  size_t size() const { return size_; }  // all that was taken

 private:
  struct Taken {
    size_t offset;
    Kind request;
  };

  // Stays of class c last for [2^c, 2^(c+1)) steps.
  static size_t length_class(const Stay& stay) {
    size_t c = 0;
    while (int64_t{stay.end} - stay.begin + 1 >= int64_t{2} << c) ++c;
    return c;
  }

  // Collects the requests whose stays overlap this one, the lowest offset first.
  void find_met(const Stay& stay) {
    met_.clear();
    for (size_t c = 0; c < taken_.size(); ++c) {
      const int64_t earliest = std::max<int64_t>(int64_t{stay.begin} - (int64_t{2} << c), INT32_MIN);
      auto t = taken_[c].lower_bound(static_cast<int32_t>(earliest));
      for (; t != taken_[c].end() && t->first <= stay.end; ++t) {
        if (t->second.request.stay.end >= stay.begin) met_.push_back(&t->second);
      }
    }
    std::sort(met_.begin(), met_.end(), [](const Taken* a, const Taken* b) { return a->offset < b->offset; });
  }

  std::array<std::multimap<int32_t, Taken>, 32> taken_;  // by the class of the stay's length, and its begin
  std::vector<const Taken*> met_;                        // by the request in hand
  size_t size_ = 0;
};

}  // namespace eggroll

#endif
