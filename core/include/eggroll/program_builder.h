// How a model plugin writes its token step. The builder owns everything that view() points to.
#ifndef EGGROLL_PROGRAM_BUILDER_H
#define EGGROLL_PROGRAM_BUILDER_H

#include <deque>
#include <string>
#include <vector>

#include "eggroll/error.h"
#include "eggroll/plugin.h"

namespace eggroll {

struct Param {
  int32_t id = -1;
};
struct Value {
  int32_t id = -1;
};

class ProgramBuilder {
 public:
  ProgramBuilder(int32_t vocab, int32_t fixed_point, int32_t rounding)
      : vocab_(vocab), fixed_point_(fixed_point), rounding_(rounding) {}

  // (rows, cols) = (outputs, inputs), weights drawn with standard deviation init_std.
  Param matrix(const std::string& name, int32_t rows, int32_t cols, int32_t init_std) {
    return add_param(name, EGG_PARAM_MATRIX, rows, cols, EGG_INIT_NORMAL, init_std);
  }

  Param vector(const std::string& name, int32_t size, int32_t init_value) {
    return add_param(name, EGG_PARAM_VECTOR, size, 1, EGG_INIT_CONSTANT, init_value);
  }

  // Never perturbed, never updated.
  void freeze(Param param) { params_.at(index(param.id)).perturbed = 0; }

  Value state(const std::string& name, int32_t size) { return add_value(name, size, 1); }

  Value embed(const std::string& name, Param table) {
    return add_op(EGG_OP_EMBED, name, rows_cols(table).second, {}, {table}, 0);
  }

  // shift: right shift of the int32 product.
  Value linear(const std::string& name, Value x, Param weight, int32_t shift, Param bias = {}) {
    return add_op(EGG_OP_LINEAR, name, rows_cols(weight).first, {x}, {weight, bias}, shift);
  }

  Value l1_norm(const std::string& name, Value x, Param gain, int32_t division, Param bias = {}) {
    return add_op(EGG_OP_L1_NORM, name, size(x), {x}, {gain, bias}, division);
  }

  Value add(const std::string& name, Value a, Value b = {}, Param bias = {}) {
    return add_op(EGG_OP_ADD, name, size(a), {a, b}, {Param{}, bias}, 0);
  }

  Value gru_gate(const std::string& name, Value f, Value h) {
    return add_op(EGG_OP_GRU_GATE, name, size(h), {f, h}, {}, 0);
  }

  Value gru_mix(const std::string& name, Value f, Value h, Value c) {
    return add_op(EGG_OP_GRU_MIX, name, size(h), {f, h, c}, {}, 0);
  }

  void store(Value state, Value x) {
    egg_op op = empty_op(EGG_OP_STORE);
    op.out = state.id;
    op.in[0] = x.id;
    ops_.push_back(op);
  }

  // unit: bits of one logit step in Q16; 4096 means that sixteen steps are one bit.
  void loss(Value logits, int32_t unit) {
    egg_op op = empty_op(EGG_OP_LOSS);
    op.in[0] = logits.id;
    op.attr = unit;
    ops_.push_back(op);
  }

  int32_t size(Value value) const { return values_.at(index(value.id)).size; }

  // Valid until the builder changes or dies.
  const egg_program* view() {
    view_ = egg_program{sizeof(egg_program),
                        vocab_,
                        fixed_point_,
                        rounding_,
                        static_cast<uint32_t>(params_.size()),
                        static_cast<uint32_t>(values_.size()),
                        static_cast<uint32_t>(ops_.size()),
                        0,
                        params_.data(),
                        values_.data(),
                        ops_.data()};
    return &view_;
  }

 private:
  static size_t index(int32_t id) {
    if (id < 0) throw Error("the program uses a value or parameter that was never made; fix the model plugin");
    return static_cast<size_t>(id);
  }

  static egg_op empty_op(int32_t code) { return egg_op{code, -1, {-1, -1, -1}, {-1, -1}, 0}; }

  const char* keep(const std::string& name) { return names_.emplace_back(name).c_str(); }

  std::pair<int32_t, int32_t> rows_cols(Param param) const {
    const egg_param& p = params_.at(index(param.id));
    return {p.rows, p.cols};
  }

  Param add_param(const std::string& name, int32_t kind, int32_t rows, int32_t cols, int32_t init, int32_t value) {
    params_.push_back(egg_param{keep(name), kind, rows, cols, init, value, 1});
    return Param{static_cast<int32_t>(params_.size()) - 1};
  }

  Value add_value(const std::string& name, int32_t size, int32_t is_state) {
    values_.push_back(egg_value{keep(name), size, is_state});
    return Value{static_cast<int32_t>(values_.size()) - 1};
  }

  Value add_op(int32_t code, const std::string& name, int32_t size, const std::vector<Value>& in,
               const std::vector<Param>& params, int32_t attr) {
    egg_op op = empty_op(code);
    for (size_t i = 0; i < in.size(); ++i) op.in[i] = in[i].id;
    for (size_t i = 0; i < params.size(); ++i) op.param[i] = params[i].id;
    op.attr = attr;
    const Value out = add_value(name, size, 0);
    op.out = out.id;
    ops_.push_back(op);
    return out;
  }

  int32_t vocab_;
  int32_t fixed_point_;
  int32_t rounding_;
  std::deque<std::string> names_;  // a deque never moves its strings
  std::vector<egg_param> params_;
  std::vector<egg_value> values_;
  std::vector<egg_op> ops_;
  egg_program view_{};
};

}  // namespace eggroll

#endif
