// Makes, runs and prints a random case as the host holds it.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "conformance/random_program.h"
#include "conformance/tables.h"
#include "eggroll/error.h"
#include "eggroll/op_signature.h"

namespace eggroll {
namespace {

// Channels of each head; if the heads cannot share the size evenly, a number that the host refuses.
int32_t head_of(int32_t size, int32_t heads) { return size % heads == 0 ? size / heads : size + 1; }

// The table of an op, from its seed.
std::vector<int32_t> entries_of(const egg_op& op, int32_t context) {
  Draws draws(static_cast<uint64_t>(op.table));
  switch (signature_of(op).table) {
    case OpTable::kNone:
      break;
    case OpTable::kBytes:
      return random_lut(draws);
    case OpTable::kAngles:
      return random_angles(draws, context, op.head);
    case OpTable::kWeights: {
      // The most that the host lets pass, or less.
      const int32_t most = std::min((1 << 23) / std::max(1, context), kLargestWeight);
      const int32_t largest[] = {most, most, 1, 127, 128, 16383, 16384};
      return random_weights(draws, std::min(most, draws.pick(largest)));
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<Program> make_program(const RandomProgram& program) {
  std::deque<std::string> names;  // a deque never moves its strings
  const auto name = [&](char letter, size_t number) {
    return names.emplace_back(fmt::format("{}{}", letter, number)).c_str();
  };
  const auto size = [&](int32_t dim) { return dim < 0 ? 1 : program.dims.at(static_cast<size_t>(dim)); };
  std::vector<egg_param> params;
  std::vector<egg_index> indices;
  for (const RandomProgram::Index& index : program.indices) indices.push_back({index.tokens, 1 << index.log2_rows});
  for (const RandomProgram::Param& p : program.params) {
    const int32_t rows = p.index < 0 ? size(p.rows) : indices.at(static_cast<size_t>(p.index)).rows;
    params.push_back(egg_param{name('p', params.size()), p.vector ? EGG_PARAM_VECTOR : EGG_PARAM_MATRIX, rows,
                               size(p.cols), EGG_INIT_CONSTANT, 0, p.frozen ? 0 : 1});
  }
  std::vector<egg_value> values;
  for (const RandomProgram::Value& v : program.values) {
    values.push_back(
        egg_value{name(v.state ? 's' : 'v', values.size()), size(v.dim), v.state ? 1 : 0, v.wide ? 1 : 0, 0});
  }
  std::vector<egg_op> ops = program.ops;
  std::deque<std::vector<int32_t>> entries;
  std::vector<egg_table> tables;
  for (egg_op& op : ops) {
    if (op.head > 0) op.head = head_of(values[static_cast<size_t>(op.out)].size, op.head);
    if (op.table < 0) continue;
    const std::vector<int32_t>& made = entries.emplace_back(entries_of(op, program.context));
    op.table = static_cast<int32_t>(tables.size());
    tables.push_back(egg_table{name('t', tables.size()), static_cast<uint32_t>(made.size()), 0, made.data()});
  }
  return std::make_unique<Program>(egg_program{
      sizeof(egg_program), size(0), program.fixed_point, program.rounding, static_cast<uint32_t>(params.size()),
      static_cast<uint32_t>(values.size()), static_cast<uint32_t>(ops.size()), static_cast<uint32_t>(tables.size()),
      program.context, static_cast<uint32_t>(indices.size()), params.data(), values.data(), ops.data(), tables.data(),
      indices.data()});
}

std::unique_ptr<Rule> make_rule(const RandomRule& rule) {
  std::deque<std::string> names;
  std::vector<egg_slot> slots;
  for (const RandomRule::Slot& slot : rule.slots) {
    slots.push_back(egg_slot{names.emplace_back(fmt::format("slot{}", slots.size())).c_str(), slot.type, slot.node});
  }
  std::vector<const char*> scalars;
  for (int32_t i = 0; i < rule.scalars; ++i) scalars.push_back(names.emplace_back(fmt::format("scalar{}", i)).c_str());
  return std::make_unique<Rule>(egg_rule{sizeof(egg_rule), static_cast<uint32_t>(rule.nodes.size()),
                                         static_cast<uint32_t>(slots.size()), static_cast<uint32_t>(scalars.size()),
                                         rule.nodes.data(), slots.data(), scalars.data(), rule.delta, 0});
}

void require_valid(const RandomCase& test) {
  require_valid(*make_program(test.program), *make_rule(test.rule), test.scenario);
}

Transcript run_case(const BackendInstance& backend, const RandomCase& test, const Division& division) {
  return run_scenario(backend, *make_program(test.program), *make_rule(test.rule), test.scenario, division);
}

std::string disagreement(const RandomCase& test, const BackendInstance& tested, const BackendInstance* reference) {
  try {
    const Transcript actual = run_case(tested, test, {});
    if (reference != nullptr) {
      const std::string difference = first_difference(run_case(*reference, test, {}), actual);
      if (!difference.empty()) return difference;
    }
    // Only one of the two, because each takes as long as everything before.
    const bool shared = test.scenario.seed % 4 == 0;
    const std::string other =
        first_difference(actual, run_case(tested, test, shared ? Division{1, 3} : Division{3, 1}));
    if (other.empty()) return "";
    return fmt::format("three {} give another result than one: {}",
                       shared ? "sessions that share members and updates" : "threads", other);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string text(const RandomCase& test) {
  return make_program(test.program)->text() + make_rule(test.rule)->text() + text(test.scenario);
}

}  // namespace eggroll
