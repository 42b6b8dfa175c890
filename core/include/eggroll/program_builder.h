// Model plugins write their token step with this builder. It owns everything that view() points to.
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
struct Table {
  int32_t id = -1;
};
struct Index {
  int32_t id = -1;
};

class ProgramBuilder {
 public:
  // context: the tokens that a call may read; 0: any number.
  ProgramBuilder(int32_t vocab, int32_t fixed_point, int32_t rounding, int32_t context = 0)
      : vocab_(vocab), fixed_point_(fixed_point), rounding_(rounding), context_(context) {}

  // (rows, cols) = (outputs, inputs). The weights are drawn with standard deviation init_std.
  Param matrix(const std::string& name, int32_t rows, int32_t cols, int32_t init_std) {
    return add_param(name, EGG_PARAM_MATRIX, rows, cols, EGG_INIT_NORMAL, init_std);
  }

  Param vector(const std::string& name, int32_t size, int32_t init_value) {
    return add_param(name, EGG_PARAM_VECTOR, size, 1, EGG_INIT_CONSTANT, init_value);
  }

  // The parameter is then never perturbed and never updated.
  void freeze(Param param) { params_.at(index(param.id)).perturbed = 0; }

  Value state(const std::string& name, int32_t size) { return add_value(name, size, 1, 0); }

  Table table(const std::string& name, std::vector<int32_t> entries) {
    const std::vector<int32_t>& kept = entries_.emplace_back(std::move(entries));
    tables_.push_back(egg_table{keep(name), static_cast<uint32_t>(kept.size()), 0, kept.data()});
    return Table{static_cast<int32_t>(tables_.size()) - 1};
  }

  // An index that finds a table's row by the hash of the last `tokens` tokens. rows must be a power of two.
  Index index(int32_t tokens, int32_t rows) { return add_index({tokens, rows}); }
  // An index by the hash of the last word, or of the last two words, of a text of bytes.
  Index index_by_words(int32_t words, int32_t rows) { return add_index({0, rows, words}); }

  // The row of the token or, if there is an index, of the index. If x is given, it is added to the row.
  Value embed(const std::string& name, Param table, Index index = {}, Value x = {}) {
    return add_op(EGG_OP_EMBED, name, rows_cols(table).second, {x}, {table}, index.id + 1);
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

  // h times a gate, (f + 127) / 256: the product of any gate, not of a GRU's alone.
  Value gru_gate(const std::string& name, Value f, Value h) {
    return add_op(EGG_OP_GRU_GATE, name, size(h), {f, h}, {}, 0);
  }

  // Moves from h to c by the same gate.
  Value gru_mix(const std::string& name, Value f, Value h, Value c) {
    return add_op(EGG_OP_GRU_MIX, name, size(h), {f, h, c}, {}, 0);
  }

  // A linear whose int32 result is not clipped.
  Value wide_linear(const std::string& name, Value x, Param weight, int32_t shift, Param bias = {}) {
    return widened(linear(name, x, weight, shift, bias));
  }
  Value wide_add(const std::string& name, Value a, Value b = {}, Param bias = {}) {
    return widened(add(name, a, b, bias));
  }

  Value lut(const std::string& name, Value x, Table table) {
    const Value out = add_op(EGG_OP_LUT, name, size(x), {x}, {}, 0);
    ops_.back().table = table.id;
    return out;
  }

  Value max_norm(const std::string& name, Value x) { return add_op(EGG_OP_MAX_NORM, name, size(x), {x}, {}, 0); }

  // The result is wide if x is. head: the number of channels of a head.
  Value rope(const std::string& name, Value x, Table table, int32_t head) {
    const Value out = add_op(EGG_OP_ROPE, name, size(x), {x}, {}, 0);
    ops_.back().table = table.id;
    ops_.back().head = head;
    return values_.at(index(x.id)).is_wide != 0 ? widened(out) : out;
  }

  // weighting: egg_weighting; shift: right shift of the scores.
  Value attention(const std::string& name, Value q, Value k, Value v, Table table, int32_t head, int32_t weighting,
                  int32_t shift) {
    const Value out = add_op(EGG_OP_ATTENTION, name, size(q), {q, k, v}, {}, shift);
    ops_.back().table = table.id;
    ops_.back().head = head;
    ops_.back().mode = weighting;
    return out;
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
                        static_cast<uint32_t>(tables_.size()),
                        context_,
                        static_cast<uint32_t>(indices_.size()),
                        params_.data(),
                        values_.data(),
                        ops_.data(),
                        tables_.data(),
                        indices_.data()};
    return &view_;
  }

 private:
  static size_t index(int32_t id) {
    if (id < 0) throw Error("the program uses a value or parameter that was never made; fix the model plugin");
    return static_cast<size_t>(id);
  }

  static egg_op empty_op(int32_t code) { return egg_op{code, -1, {-1, -1, -1}, {-1, -1}, 0, -1, 0, 0}; }

  const char* keep(const std::string& name) { return names_.emplace_back(name).c_str(); }

  std::pair<int32_t, int32_t> rows_cols(Param param) const {
    const egg_param& p = params_.at(index(param.id));
    return {p.rows, p.cols};
  }

  Param add_param(const std::string& name, int32_t kind, int32_t rows, int32_t cols, int32_t init, int32_t value) {
    params_.push_back(egg_param{keep(name), kind, rows, cols, init, value, 1});
    return Param{static_cast<int32_t>(params_.size()) - 1};
  }

  Index add_index(const egg_index& index) {
    indices_.push_back(index);
    return Index{static_cast<int32_t>(indices_.size()) - 1};
  }

  Value add_value(const std::string& name, int32_t size, int32_t is_state, int32_t is_wide) {
    values_.push_back(egg_value{keep(name), size, is_state, is_wide, 0});
    return Value{static_cast<int32_t>(values_.size()) - 1};
  }

  Value widened(Value value) {
    values_.at(index(value.id)).is_wide = 1;
    return value;
  }

  Value add_op(int32_t code, const std::string& name, int32_t size, const std::vector<Value>& in,
               const std::vector<Param>& params, int32_t attr) {
    egg_op op = empty_op(code);
    for (size_t i = 0; i < in.size(); ++i) op.in[i] = in[i].id;
    for (size_t i = 0; i < params.size(); ++i) op.param[i] = params[i].id;
    op.attr = attr;
    const Value out = add_value(name, size, 0, 0);
    op.out = out.id;
    ops_.push_back(op);
    return out;
  }

  int32_t vocab_;
  int32_t fixed_point_;
  int32_t rounding_;
  int32_t context_;
  std::deque<std::string> names_;  // a deque never moves its strings
  std::deque<std::vector<int32_t>> entries_;
  std::vector<egg_param> params_;
  std::vector<egg_value> values_;
  std::vector<egg_op> ops_;
  std::vector<egg_table> tables_;
  std::vector<egg_index> indices_;
  egg_program view_{};
};

}  // namespace eggroll

#endif
