// One member that reads one stream: its perturbation, its values, its ops.
#ifndef TOKEN_STEP_H
#define TOKEN_STEP_H

#include <cstdint>
#include <vector>

#include "eggroll/arithmetic.h"
#include "eggroll/lowered_program.h"
#include "eggroll/noise_source.h"
#include "eggroll/plugin.h"

namespace backend {

using Weights = std::vector<int8_t>;

// The data that all members share.
struct Model {
  explicit Model(const egg_session_spec& spec);
  const egg_session_spec& spec;
  const egg_program& program;
  eggroll::LoweredProgram lowered;
  eggroll::NoiseSource source;
  std::vector<Weights> weights;  // by parameter, (rows, cols)
  egg_loss_tables loss_tables;
};

// The noise of one pair for one parameter: a is (rank, rows), b is (rank, cols). A vector has one draw for each row in
// a and in b.
struct Noise {
  std::vector<int8_t> a;
  std::vector<int8_t> b;
};
Noise draw(const Model& model, uint64_t step, uint32_t pair, uint32_t param);

// The noise of one pair, by parameter; empty for a parameter that the pair does not perturb. A matrix that no linear
// reads has no a, because an embed needs only one value of it, even for a table with a million rows.
struct Perturbation {
  uint64_t step;
  uint32_t pair;
  std::vector<Noise> noise;
};
Perturbation draw(const Model& model, uint64_t step, uint32_t pair);

class Member {
 public:
  explicit Member(const Model& model);

  // Reads one stream of the batch and returns the sum of its losses in Q16 bits. sign is +1 or -1, or 0 with no
  // perturbation for the unperturbed model. states are read at first and written at last. logits, if not null, receives
  // those of the last token.
  int64_t read(const Perturbation* perturbation, int32_t sign, const egg_batch& batch, uint32_t stream, int8_t* states,
               int8_t* logits);

  // One function for each op of ops.h: void embed(const egg_op& op); ...
#define DECLARE_OP(code, name, ...) void name(const egg_op& op);
  EGG_OPS(DECLARE_OP)
#undef DECLARE_OP

 private:
  using Values = std::vector<int32_t>;  // int8 values; wide values are int32
  struct Cache {
    std::vector<Values> keys;  // by position
    std::vector<Values> values;
  };
  const Values& in(const egg_op& op, int k) const { return values_[static_cast<size_t>(op.in[k])]; }
  size_t size(const egg_op& op) const { return values_[static_cast<size_t>(op.out)].size(); }
  // Writes channel i of the op's result, clipped unless it is wide.
  void put(const egg_op& op, size_t i, int32_t x);
  const int32_t* table(const egg_op& op) const { return model_.program.tables[op.table].entries; }
  void attend(const egg_op& op, size_t first);
  const Noise* noise_of(int32_t param) const;
  int32_t vector_element(int32_t param, size_t i) const;

  const Model& model_;
  int32_t nearest_;             // the program's rounding
  std::vector<Values> values_;  // by value; a state holds its value from before the token
  std::vector<Values> stored_;  // what states become when the token ends
  std::vector<Cache> caches_;   // of each attention, by the value that it makes

  // The call that is under way.
  const Perturbation* perturbation_ = nullptr;
  int32_t sign_ = 0;
  uint32_t token_ = 0;
  const uint32_t* rows_ = nullptr;  // rows of the current token, by index
  uint32_t target_ = 0;
  size_t position_ = 0;       // position of the current token in its call
  size_t first_visible_ = 0;  // the earliest position that attention sees
  int64_t loss_ = 0;
};

// Null for an op that this backend lacks.
using OpFunction = void (Member::*)(const egg_op&);
OpFunction op_function(int32_t code);

}  // namespace backend

#endif
