// The printable form: `eggroll show` prints it, and a program's hash is its hash.
#include <fmt/format.h>

#include <iterator>

#include "program/op_info.h"
#include "program/program.h"
#include "system/files.h"

namespace eggroll {
namespace {

const char* division_name(int32_t division) {
  return division == EGG_DIVIDE_RECIPROCAL ? "reciprocal" : division == EGG_DIVIDE_TRUNCATE ? "truncate" : "floor";
}

// The text of egg_op.attr, unless it is written before everything else.
std::string attribute(const egg_op& op) {
  switch (signature_of(op).attr) {
    case OpAttr::kNone:
    case OpAttr::kIndex:
      return "";
    case OpAttr::kShift:
      return fmt::format("shift {}", op.attr);
    case OpAttr::kDivision:
      return division_name(op.attr);
    case OpAttr::kUnit:
      return fmt::format("unit {}/65536 bits", op.attr);
  }
  return "";
}

// The key that chooses a row of a table.
std::string key_of_row(const egg_program& program, const egg_op& op) {
  if (op.attr == 0) return "token";
  const egg_index& index = program.indices[op.attr - 1];
  if (index.words == 0) return fmt::format("hash of {} tokens", index.tokens);
  return fmt::format("hash of {} word{}", index.words, index.words == 1 ? "" : "s");
}

std::string operands(const egg_program& program, const egg_op& op) {
  const OpSignature& info = signature_of(op);
  std::string list;
  const auto append = [&](const std::string& text) { list += (list.empty() || text.empty() ? "" : ", ") + text; };
  if (info.attr == OpAttr::kIndex) append(key_of_row(program, op));
  for (const int32_t id : op.in) {
    if (id >= 0) append(program.values[id].name);
  }
  if (info.access == OpAccess::kEnd) append("target");
  if (op.param[0] >= 0) append(program.params[op.param[0]].name);
  if (op.param[1] >= 0) append(fmt::format("bias {}", program.params[op.param[1]].name));
  if (op.table >= 0) append(program.tables[op.table].name);
  if (op.head > 0) append(fmt::format("head {}", op.head));
  if (info.mode == OpMode::kWeighting) append(op.mode == EGG_WEIGHT_SOFTMAX ? "softmax" : "sigmoid");
  append(attribute(op));
  return list;
}

}  // namespace

std::string Program::text() const {
  std::string text = fmt::format("program vocab {}, fixed point {}, rounding {}{}\n", view_.vocab, view_.fixed_point,
                                 view_.rounding == EGG_ROUND_NEAREST ? "nearest" : "floor",
                                 view_.context > 0 ? fmt::format(", context {}", view_.context) : "");
  const auto out = std::back_inserter(text);
  for (const egg_param& p : params_) {
    const std::string shape =
        p.kind == EGG_PARAM_VECTOR ? fmt::format("{}", p.rows) : fmt::format("{} x {}", p.rows, p.cols);
    fmt::format_to(out, "param {:<24} {:<6} {:<12} init {} {}{}\n", p.name,
                   p.kind == EGG_PARAM_VECTOR ? "vector" : "matrix", shape,
                   p.init == EGG_INIT_NORMAL ? "normal" : "constant", p.init_value, p.perturbed != 0 ? "" : ", frozen");
  }
  for (const egg_value& v : values_) {
    if (v.is_state != 0) fmt::format_to(out, "state {:<24} {}\n", v.name, v.size);
  }
  for (const egg_table& t : tables_) {
    const std::string bytes(reinterpret_cast<const char*>(t.entries), t.count * sizeof(int32_t));
    fmt::format_to(out, "table {:<24} {} entries, sha256 {}\n", t.name, t.count, sha256_hex(bytes));
  }
  for (const egg_op& op : ops_) {
    const char* name = op.out >= 0 ? values_[static_cast<size_t>(op.out)].name : "";
    const std::string target = op.out >= 0
                                   ? fmt::format("{}[{}]{}", name, values_[static_cast<size_t>(op.out)].size,
                                                 values_[static_cast<size_t>(op.out)].is_wide != 0 ? " wide" : "")
                                   : "loss";
    fmt::format_to(out, "op    {:<24} = {}({})\n", target, signature_of(op.code).name, operands(view_, op));
  }
  return text;
}

}  // namespace eggroll
