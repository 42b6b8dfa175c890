// One member reading one stream: its noise, its values, its token step.
#ifndef EGGROLL_REFERENCE_MEMBER_H
#define EGGROLL_REFERENCE_MEMBER_H

#include <cstdint>
#include <vector>

#include "eggroll/arithmetic.h"
#include "eggroll/lowered_program.h"
#include "eggroll/noise_source.h"
#include "eggroll/plugin.h"

namespace eggroll::reference {

// Weights of one parameter, row-major, widened so that the compiler can use 16-bit multiply-adds.
using Weights = std::vector<int16_t>;

// A pair's perturbation of one parameter: a is (rank, rows), b is (rank, cols); a vector has one draw each of (rows).
// Both are empty if the pair does not perturb it.
struct ParamNoise {
  std::vector<int8_t> a;
  std::vector<int8_t> b;
};

// A session's data that no op changes.
struct Model : LoweredProgram {
  explicit Model(const egg_session_spec& spec) : LoweredProgram(spec) {
    for (const LoweredParam& param : params) weights.emplace_back(param.count());
    egg_fill_loss_tables(&loss_tables, program->ops[program->op_count - 1].attr);
  }
  std::vector<Weights> weights;  // by parameter
  egg_loss_tables loss_tables;
};

std::vector<ParamNoise> draw_noise(const Model& model, const NoiseSource& source, uint64_t step, uint32_t pair);

// Keys and values of an attention at each position of a call: (context, channels).
struct Cache {
  std::vector<int8_t> keys;
  std::vector<int8_t> values;
};

// Working memory of one member. Lists are by number of a value; those of states hold what they were when the token
// began, caches are by what their attention makes.
struct Frame {
  explicit Frame(const egg_program& program);
  std::vector<std::vector<int8_t>> values;
  std::vector<std::vector<int32_t>> wide_values;
  std::vector<std::vector<int8_t>> stored;  // new values of states
  std::vector<Cache> caches;
  std::vector<int16_t> widened;  // an op's input
  uint32_t position = 0;         // of the token in its call
  uint32_t first_visible = 0;    // position that attention reaches back to
};

// One op of one token.
struct OpCall {
  const Model& model;
  const egg_op& op;
  const std::vector<ParamNoise>* noise;  // null if the sign is 0
  int32_t sign;                          // +1, -1; 0 for the unperturbed model
  uint32_t token;
  const uint32_t* rows;  // of the token, by index
  uint32_t target;
  Frame& frame;
  int64_t& loss;  // Q16 bits, added to
};

// By egg_op_code; made from the op list, so an op without an implementation does not link.
using OpFunction = void (*)(const OpCall&);
extern const OpFunction kOps[EGG_OP_COUNT];

struct Stream {
  uint32_t count;
  const uint32_t* inputs;
  const uint32_t* targets;
  const uint8_t* resets;
  const uint32_t* rows;  // (count, indices)
};

// The parts of a run: states of a stream to the frame and back; a token's begin, its ops, each for the frame's
// position, and its end.
void load_states(const Model& model, const int8_t* states, Frame& frame);
void save_states(const Model& model, const Frame& frame, int8_t* states);
void begin_token(const Model& model, const Stream& stream, uint32_t t, Frame& frame);
void run_op(const Model& model, uint32_t op, const std::vector<ParamNoise>* noise, int32_t sign, const Stream& stream,
            Frame& frame, int64_t& loss);
void end_token(const Model& model, Frame& frame);

// Reads tokens[0, count); states are read at first and written at last. Returns the sum of losses. logits, if not null,
// receives those of the last token.
int64_t run_member(const Model& model, const std::vector<ParamNoise>* noise, int32_t sign, const Stream& stream,
                   Frame& frame, int8_t* states, int8_t* logits);

}  // namespace eggroll::reference

#endif
