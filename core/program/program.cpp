// Copies a program across the seam, and computes what follows from its shapes.
#include "program/program.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "eggroll/error.h"
#include "system/files.h"

namespace eggroll {

uint64_t weight_count(const egg_param& param) {
  return static_cast<uint64_t>(param.rows) * static_cast<uint64_t>(param.cols);
}

uint32_t state_bytes(const egg_program& program) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < program.value_count; ++i) {
    bytes += program.values[i].is_state != 0 ? static_cast<uint32_t>(program.values[i].size) : 0;
  }
  return bytes;
}

bool is_table(const egg_program& program, uint32_t param) {
  bool read = false;
  for (uint32_t i = 0; i < program.op_count; ++i) {
    for (const int32_t id : program.ops[i].param) {
      if (id != static_cast<int32_t>(param)) continue;
      if (program.ops[i].code != EGG_OP_EMBED) return false;
      read = true;
    }
  }
  return read;
}

Program::Program(const egg_program& source) : view_(source) {
  validate_program(source);
  params_.assign(source.params, source.params + source.param_count);
  values_.assign(source.values, source.values + source.value_count);
  ops_.assign(source.ops, source.ops + source.op_count);
  for (uint32_t i = 0; i < source.table_count; ++i) {
    const egg_table& table = source.tables[i];
    entries_.emplace_back(table.entries, table.entries + table.count);
    tables_.push_back(egg_table{table.name, table.count, 0, entries_.back().data()});
  }
  merge_indices(source);
  names_.reserve(params_.size() + values_.size() + tables_.size());
  for (egg_param& param : params_) param.name = names_.emplace_back(param.name).c_str();
  for (egg_value& value : values_) value.name = names_.emplace_back(value.name).c_str();
  for (egg_table& table : tables_) table.name = names_.emplace_back(table.name).c_str();
  view_.params = params_.data();
  view_.values = values_.data();
  view_.ops = ops_.data();
  view_.tables = tables_.data();
  view_.indices = indices_.data();
  view_.index_count = static_cast<uint32_t>(indices_.size());
}

// Tables that are read by the same hash share its index, so that a batch holds each number once.
void Program::merge_indices(const egg_program& source) {
  std::vector<int32_t> merged;  // by index of the source
  for (uint32_t i = 0; i < source.index_count; ++i) {
    const egg_index& index = source.indices[i];
    const auto same = [&](const egg_index& other) {
      return other.tokens == index.tokens && other.words == index.words && other.rows == index.rows;
    };
    const auto known = std::find_if(indices_.begin(), indices_.end(), same);
    merged.push_back(static_cast<int32_t>(known - indices_.begin()));
    if (known == indices_.end()) indices_.push_back(index);
  }
  for (egg_op& op : ops_) {
    if (op.code == EGG_OP_EMBED && op.attr > 0) op.attr = merged[static_cast<size_t>(op.attr - 1)] + 1;
  }
}

uint32_t Program::state_bytes() const { return eggroll::state_bytes(view_); }

uint64_t Program::weight_count() const {
  uint64_t count = 0;
  for (const egg_param& param : params_) count += eggroll::weight_count(param);
  return count;
}

uint64_t Program::macs_per_token() const {
  std::vector<uint32_t> all(ops_.size());
  std::iota(all.begin(), all.end(), 0U);
  return macs_of(all);
}

uint64_t Program::macs_of(std::span<const uint32_t> ops) const {
  uint64_t count = 0;
  for (const uint32_t i : ops) {
    const egg_op& op = ops_[i];
    if (op.code == EGG_OP_LINEAR) count += eggroll::weight_count(params_[static_cast<size_t>(op.param[0])]);
  }
  return count;
}

std::string Program::hash() const { return sha256_hex(text()); }

}  // namespace eggroll
