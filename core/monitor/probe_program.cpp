#include "monitor/probe_program.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

namespace eggroll {
namespace {

// No name of a program begins with this.
std::string unused_prefix(const Program& program) {
  std::string prefix = "probe";
  const auto taken = [&](const auto& named) { return std::string_view(named.name).starts_with(prefix); };
  while (std::any_of(program.params().begin(), program.params().end(), taken) ||
         std::any_of(program.values().begin(), program.values().end(), taken) ||
         std::any_of(program.tables().begin(), program.tables().end(), taken)) {
    prefix += '_';
  }
  return prefix;
}

}  // namespace

ProbeProgram::ProbeProgram(const Program& model) {
  const std::string prefix = unused_prefix(model);
  std::deque<std::string> names;
  std::vector<egg_value> values = model.values();
  std::vector<egg_op> ops(model.ops().begin(), model.ops().end() - 1);
  size_t offset = model.state_bytes();  // the copies' states come after the model's
  for (uint32_t i = 0; i < model.values().size(); ++i) {
    const egg_value& value = model.values()[i];
    if (value.is_wide != 0) continue;
    const auto copy = static_cast<int32_t>(values.size());
    values.push_back(egg_value{names.emplace_back(prefix + std::to_string(i)).c_str(), value.size, 1, 0, 0});
    ops.push_back(egg_op{EGG_OP_STORE, copy, {static_cast<int32_t>(i), -1, -1}, {-1, -1}, 0, -1, 0, 0});
    seen_.push_back({i, offset, static_cast<size_t>(value.size)});
    offset += static_cast<size_t>(value.size);
  }
  ops.push_back(model.ops().back());  // the loss stays last
  egg_program view = model.view();
  view.value_count = static_cast<uint32_t>(values.size());
  view.op_count = static_cast<uint32_t>(ops.size());
  view.values = values.data();
  view.ops = ops.data();
  program_.emplace(view);
}

}  // namespace eggroll
