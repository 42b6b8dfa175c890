// The rules that a program must keep. A broken rule gives a sentence for the model's author.
#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "eggroll/arithmetic.h"
#include "eggroll/error.h"
#include "program/names.h"
#include "program/op_info.h"
#include "program/program.h"

namespace eggroll {
namespace {

constexpr int32_t kLargestSize = 1 << 24;
constexpr int64_t kMostStates = INT32_MAX;  // bytes of one member
constexpr int32_t kLargestContext = 1 << 16;
constexpr int32_t kMostIndices = 64;

class Validator {
 public:
  explicit Validator(const egg_program& program) : program_(program) {}

  void run() {
    header();
    names();
    for (uint32_t i = 0; i < program_.param_count; ++i) param(i);
    for (uint32_t i = 0; i < program_.index_count; ++i) index(program_.indices[i], i);
    values();
    made_.assign(program_.value_count, false);
    read_.assign(program_.value_count, false);
    used_.assign(program_.param_count, false);
    used_tables_.assign(program_.table_count, false);
    used_indices_.assign(program_.index_count, false);
    for (uint32_t i = 0; i < program_.op_count; ++i) op(i);
    nothing_left_over();
  }

 private:
  [[noreturn]] static void fail(const std::string& text) {
    throw Error("the model's program is wrong: " + text + "; fix the model plugin", EGG_ERROR_UNSUPPORTED);
  }

  static void in_range(const std::string& what, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high) fail(fmt::format("{} is {}, expected {} to {}", what, value, low, high));
  }

  void header() const {
    if (program_.struct_size < sizeof(egg_program)) {
      fail(fmt::format("it has {} bytes, expected {}", program_.struct_size, sizeof(egg_program)));
    }
    in_range("the vocabulary", program_.vocab, 2, EGG_LOSS_VOCAB_MAX);
    in_range("fixed_point", program_.fixed_point, 0, 12);
    in_range("rounding", program_.rounding, EGG_ROUND_FLOOR, EGG_ROUND_NEAREST);
    if (program_.param_count == 0 || program_.value_count == 0 || program_.op_count == 0) fail("it is empty");
    in_range("context", program_.context, 0, kLargestContext);
    in_range("the number of indices", program_.index_count, 0, kMostIndices);
    if (program_.params == nullptr || program_.values == nullptr || program_.ops == nullptr ||
        (program_.table_count > 0 && program_.tables == nullptr) ||
        (program_.index_count > 0 && program_.indices == nullptr)) {
      fail("a list is missing");
    }
  }

  void names() const {
    std::set<std::string> seen;
    const auto check = [&](const char* name) {
      if (name == nullptr || *name == '\0') fail("a parameter, value or table has no name");
      const std::string text = name;
      const std::string fault = fault_of_name(text);
      if (!fault.empty()) fail(fault);
      if (!seen.insert(text).second) fail(fmt::format("two parameters, values or tables are named '{}'", text));
    };
    for (uint32_t i = 0; i < program_.param_count; ++i) check(program_.params[i].name);
    for (uint32_t i = 0; i < program_.value_count; ++i) check(program_.values[i].name);
    for (uint32_t i = 0; i < program_.table_count; ++i) check(program_.tables[i].name);
  }

  void param(uint32_t i) const {
    const egg_param& p = program_.params[i];
    const std::string who = fmt::format("parameter '{}'", p.name);
    in_range(who + ": kind", p.kind, EGG_PARAM_MATRIX, EGG_PARAM_VECTOR);
    in_range(who + ": rows", p.rows, 1, kLargestSize);
    in_range(who + ": columns", p.cols, 1, p.kind == EGG_PARAM_VECTOR ? 1 : kLargestSize);
    in_range(who + ": weights", static_cast<int64_t>(p.rows) * p.cols, 1, int64_t{UINT32_MAX});
    in_range(who + ": init", p.init, EGG_INIT_CONSTANT, EGG_INIT_NORMAL);
    in_range(who + ": initial value", p.init_value, p.init == EGG_INIT_NORMAL ? 0 : -127, 127);
    in_range(who + ": perturbed", p.perturbed, 0, 1);
  }

  void index(const egg_index& index, uint32_t i) const {
    in_range(fmt::format("index {}: words", i), index.words, 0, EGG_INDEX_WORDS_MAX);
    const bool by_words = index.words > 0;
    in_range(fmt::format("index {}: tokens", i), index.tokens, by_words ? 0 : 1, by_words ? 0 : EGG_INDEX_TOKENS_MAX);
    if (by_words && program_.vocab != 256) {
      fail(fmt::format("index {} is of words, and the vocabulary is {}, expected 256, one for each byte", i,
                       program_.vocab));
    }
    in_range(fmt::format("index {}: rows", i), index.rows, 1, kLargestSize);
    if ((index.rows & (index.rows - 1)) != 0) {
      fail(fmt::format("index {} has {} rows, expected a power of two", i, index.rows));
    }
  }

  void values() const {
    int64_t states = 0;
    for (uint32_t i = 0; i < program_.value_count; ++i) {
      const egg_value& value = program_.values[i];
      in_range(fmt::format("value '{}': size", value.name), value.size, 1, kLargestSize);
      in_range(fmt::format("value '{}': wide", value.name), value.is_wide, 0, value.is_state != 0 ? 0 : 1);
      if (value.is_state != 0) states += value.size;
    }
    if (states > kMostStates) {
      fail(fmt::format("the states of a member are {} bytes, expected at most {}", states, kMostStates));
    }
  }

  void op(uint32_t i) {
    const egg_op& o = program_.ops[i];
    in_range(fmt::format("op {}: code", i), o.code, 0, EGG_OP_COUNT - 1);
    const OpSignature& info = signature_of(o.code);
    const bool named = o.code != EGG_OP_LOSS && o.out >= 0 && o.out < static_cast<int32_t>(program_.value_count);
    who_ = fmt::format("op {} ({}{})", i, info.name, named ? fmt::format(" '{}'", program_.values[o.out].name) : "");
    for (int k = 0; k < 3; ++k) {
      operand(o.in[k], k < info.required_values, k < info.required_values + info.optional_values);
    }
    for (int k = 0; k < 2; ++k) {
      // A bias always sits in param[1].
      parameter(o.param[k], k < info.required_params, k < info.required_params || (k == 1 && info.optional_params > 0));
    }
    if (o.code != EGG_OP_LOSS) {
      in_range(who_ + ": output", o.out, 0, int64_t{program_.value_count} - 1);
    } else if (o.out != -1) {
      fail(who_ + " writes a value");
    }
    widths(o, info);
    inputs(o, info);
    shapes(o, info);
    attributes(o, info);
    output(i, o);
  }

  void operand(int32_t id, bool required, bool allowed) {
    if (id < 0 && !required) return;
    if (!allowed) fail(who_ + " has an input too many");
    in_range(who_ + ": input", id, 0, int64_t{program_.value_count} - 1);
    const auto index = static_cast<size_t>(id);
    if (program_.values[index].is_state == 0 && !made_[index]) {
      fail(fmt::format("{} reads '{}' before it is made", who_, program_.values[index].name));
    }
    read_[index] = true;
  }

  void parameter(int32_t id, bool required, bool allowed) {
    if (id < 0 && !required) return;
    if (!allowed) fail(who_ + " has a parameter too many");
    in_range(who_ + ": parameter", id, 0, int64_t{program_.param_count} - 1);
    used_[static_cast<size_t>(id)] = true;
  }

  // Checks which ops take and make wide values.
  void widths(const egg_op& o, const OpSignature& info) const {
    const auto wide = [&](int32_t id) { return id >= 0 && program_.values[id].is_wide != 0; };
    for (const int32_t id : o.in) {
      if (wide(id) && !info.reads_wide())
        fail(fmt::format("{} reads '{}', which is wide; let an add make a narrow value of it first", who_,
                         program_.values[id].name));
    }
    if (wide(o.out) && !info.makes_wide())
      fail(fmt::format("{} writes '{}', which is wide", who_, program_.values[o.out].name));
  }

  // Checks the op's table and that each entry is in range.
  void table(const egg_op& o, int64_t count, int32_t low, int32_t high) {
    in_range(who_ + ": table", o.table, 0, int64_t{program_.table_count} - 1);
    used_tables_[static_cast<size_t>(o.table)] = true;
    const egg_table& t = program_.tables[o.table];
    if (t.entries == nullptr) fail(fmt::format("table '{}' has no entries", t.name));
    same_size("its table", t.count, count);
    for (uint32_t i = 0; i < t.count; ++i) {
      if (t.entries[i] < low || t.entries[i] > high) {
        in_range(fmt::format("table '{}': entry {}", t.name, i), t.entries[i], low, high);
      }
    }
  }

  void heads(const egg_op& o, int32_t unit) const {
    const int32_t channels = size(o.in[0]);
    if (o.head < 1 || o.head % unit != 0 || channels % o.head != 0) {
      fail(fmt::format("{}: a head has {} channels, expected a multiple of {} that divides {}", who_, o.head, unit,
                       channels));
    }
  }

  int32_t size(int32_t value) const { return program_.values[value].size; }

  void same_size(const char* what, int64_t size, int64_t expected) const {
    if (size != expected) fail(fmt::format("{}: {} has size {}, expected {}", who_, what, size, expected));
  }

  void vector_of(const char* what, int32_t id, int32_t expected) const {
    if (id < 0) return;
    if (program_.params[id].kind != EGG_PARAM_VECTOR) fail(fmt::format("{}: {} is not a vector", who_, what));
    same_size(what, program_.params[id].rows, expected);
  }

  const egg_param& matrix(const char* what, int32_t id) const {
    if (program_.params[id].kind != EGG_PARAM_MATRIX) fail(fmt::format("{}: {} is not a matrix", who_, what));
    return program_.params[id];
  }

  void shapes(const egg_op& o, const OpSignature& info) {
    const int32_t out = info.access == OpAccess::kEnd ? program_.vocab : size(o.out);
    switch (info.first_param) {
      case FirstParam::kNone:
        break;
      case FirstParam::kMatrix: {
        const egg_param& weight = matrix("its weight", o.param[0]);
        same_size("its input", size(o.in[0]), weight.cols);
        same_size("its output", out, weight.rows);
        break;
      }
      case FirstParam::kTable:
        same_size("its output", out, matrix("the embedding", o.param[0]).cols);
        break;
      case FirstParam::kGain:
        vector_of("its gain", o.param[0], out);
        break;
    }
    if (info.optional_params > 0) vector_of("its bias", o.param[1], out);
  }

  // Inputs must have the output's size, except those of a product.
  void inputs(const egg_op& o, const OpSignature& info) const {
    if (info.access == OpAccess::kProduct) return;
    if (info.access == OpAccess::kEnd) return same_size("its logits", size(o.in[0]), program_.vocab);
    constexpr std::array kWhich = {"its first input", "its second input", "its third input"};
    const bool is_alone = info.required_values + info.optional_values == 1;
    for (size_t k = 0; k < kWhich.size(); ++k) {
      if (o.in[k] >= 0) same_size(is_alone ? "its input" : kWhich[k], size(o.in[k]), size(o.out));
    }
  }

  // Checks attr, table, head and mode.
  void attributes(const egg_op& o, const OpSignature& info) {
    if ((info.attr == OpAttr::kNone && o.attr != 0) || (info.head == 0 && o.head != 0) ||
        (info.table == OpTable::kNone && o.table != -1) || (info.mode == OpMode::kNone && o.mode != 0)) {
      fail(who_ + " has an attribute it does not take");
    }
    if (info.head > 0) heads(o, info.head);
    if (info.needs_context()) in_range("context of a program with " + who_, program_.context, 1, kLargestContext);
    switch (info.table) {
      case OpTable::kNone:
        break;
      case OpTable::kBytes:
        table(o, 256, -127, 127);
        break;
      case OpTable::kAngles:
        table(o, int64_t{program_.context} * o.head, -(1 << EGG_ROPE_BITS), 1 << EGG_ROPE_BITS);
        break;
      case OpTable::kWeights:
        table(o, EGG_ATTENTION_TABLE, 0, kLargestWeight);
        break;
    }
    switch (info.attr) {
      case OpAttr::kNone:
        break;
      case OpAttr::kIndex:
        in_range(who_ + ": index", o.attr, 0, program_.index_count);
        rows_by_index(o);
        break;
      case OpAttr::kShift:
        in_range(who_ + ": shift", o.attr, 0, kLargestShift);
        break;
      case OpAttr::kDivision:
        in_range(who_ + ": division", o.attr, EGG_DIVIDE_RECIPROCAL, EGG_DIVIDE_FLOOR);
        break;
      case OpAttr::kUnit:
        in_range(who_ + ": unit", o.attr, 1, kLargestUnit);
        break;
    }
    if (info.mode == OpMode::kWeighting) in_range(who_ + ": weighting", o.mode, EGG_WEIGHT_SOFTMAX, EGG_WEIGHT_SIGMOID);
  }

  // A table must have as many rows as there are numbers to look it up by.
  void rows_by_index(const egg_op& o) {
    const int32_t rows = program_.params[o.param[0]].rows;
    if (o.attr == 0) return same_size("the embedding's vocabulary", rows, program_.vocab);
    same_size("the rows of its table", rows, program_.indices[o.attr - 1].rows);
    used_indices_[static_cast<size_t>(o.attr - 1)] = true;
  }

  void output(uint32_t i, const egg_op& o) {
    const bool last = i + 1 == program_.op_count;
    if ((o.code == EGG_OP_LOSS) != last) fail("exactly one loss is expected, as the last op");
    if (o.code == EGG_OP_LOSS) return;
    const auto index = static_cast<size_t>(o.out);
    const egg_value& value = program_.values[index];
    if ((value.is_state != 0) != (o.code == EGG_OP_STORE)) {
      fail(fmt::format("{} writes '{}', which is {}", who_, value.name, value.is_state != 0 ? "a state" : "no state"));
    }
    if (made_[index]) fail(fmt::format("'{}' is written twice", value.name));
    made_[index] = true;
  }

  void nothing_left_over() const {
    for (uint32_t i = 0; i < program_.value_count; ++i) {
      const egg_value& value = program_.values[i];
      if (!made_[i]) fail(fmt::format("{} '{}' is never written", value.is_state != 0 ? "state" : "value", value.name));
      if (!read_[i] && value.is_state == 0) fail(fmt::format("value '{}' is never read", value.name));
    }
    for (uint32_t i = 0; i < program_.param_count; ++i) {
      if (!used_[i]) fail(fmt::format("parameter '{}' is never used", program_.params[i].name));
    }
    for (uint32_t i = 0; i < program_.table_count; ++i) {
      if (!used_tables_[i]) fail(fmt::format("table '{}' is never used", program_.tables[i].name));
    }
    for (uint32_t i = 0; i < program_.index_count; ++i) {
      if (!used_indices_[i]) fail(fmt::format("index {} is never used", i));
    }
  }

  const egg_program& program_;
  std::string who_;
  std::vector<bool> made_;
  std::vector<bool> read_;
  std::vector<bool> used_;
  std::vector<bool> used_tables_;
  std::vector<bool> used_indices_;
};

}  // namespace

void validate_program(const egg_program& program) { Validator(program).run(); }

}  // namespace eggroll
