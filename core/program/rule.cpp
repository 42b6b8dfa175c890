// Validation, bounds and printing of update rules.
#include "program/rule.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <set>

#include "eggroll/error.h"
#include "eggroll/noise.h"
#include "eggroll/rule_builder.h"
#include "program/names.h"
#include "program/op_info.h"
#include "record/metric_keys.h"
#include "system/files.h"

namespace eggroll {
namespace {

constexpr uint32_t kMostNodes = 4096;  // slots and scalars alike

// The figures that the host writes into a line of metrics: in a table or a plot, a scalar of the same name would be
// taken for one of them.
std::set<std::string> figures_of_the_host() {
  std::set<std::string> keys = {metric::kSchema,         metric::kStep,
                                metric::kMemberTokens,   metric::kUniqueTokens,
                                metric::kChecksum,       metric::kTrainBits,
                                metric::kChanged,        metric::kChangedOfVoted,
                                metric::kScalars,        metric::kPairsWithoutFitness,
                                metric::kForwardSeconds, metric::kGatherSeconds,
                                metric::kUpdateSeconds,  metric::kStepSeconds,
                                metric::kMonitor};
  for (const EvaluationKeys& evaluation : {kHeldOutKeys, kFinalKeys, kAverageHeldOutKeys, kAverageFinalKeys}) {
    keys.insert({evaluation.bits, evaluation.tokens, evaluation.bytes});
  }
  return keys;
}

[[noreturn]] void fail(const std::string& text) {
  throw Error("the optimizer's rule is wrong: " + text + "; fix the optimizer plugin", EGG_ERROR_UNSUPPORTED);
}

// Slots become tensors of a checkpoint, scalars become figures of a metrics line.
void check_names(const egg_rule& rule) {
  const auto check = [](const char* what, uint32_t i, const char* name, std::set<std::string>& seen) {
    if (name == nullptr) fail(fmt::format("{} {} has no name", what, i));
    const std::string fault = fault_of_name(name);
    if (!fault.empty()) fail(fmt::format("{} {}: {}", what, i, fault));
    if (!seen.insert(name).second) fail(fmt::format("two {}s are named '{}'", what, name));
  };
  std::set<std::string> slots;
  std::set<std::string> scalars;
  for (uint32_t i = 0; i < rule.slot_count; ++i) check("slot", i, rule.slots[i].name, slots);
  const std::set<std::string> taken = figures_of_the_host();
  for (uint32_t i = 0; i < rule.scalar_count; ++i) {
    check("scalar", i, rule.scalar_names[i], scalars);
    if (taken.contains(rule.scalar_names[i])) {
      fail(fmt::format("scalar '{}' has the name of a figure that the host writes beside it, expected another name",
                       rule.scalar_names[i]));
    }
  }
}

void check_header(const egg_rule& rule) {
  if (rule.struct_size < sizeof(egg_rule)) {
    fail(fmt::format("it has {} bytes, expected {}", rule.struct_size, sizeof(egg_rule)));
  }
  if (rule.node_count == 0 || rule.node_count > kMostNodes) {
    fail(fmt::format("it has {} nodes, expected 1 to {}", rule.node_count, kMostNodes));
  }
  if (rule.nodes == nullptr || (rule.slot_count > 0 && rule.slots == nullptr) ||
      (rule.scalar_count > 0 && rule.scalar_names == nullptr)) {
    fail("a list is missing");
  }
  if (rule.slot_count > kMostNodes || rule.scalar_count > kMostNodes) {
    fail(fmt::format("it has {} slots and {} scalars, expected at most {} each", rule.slot_count, rule.scalar_count,
                     kMostNodes));
  }
  check_names(rule);
  for (uint32_t i = 0; i < rule.slot_count; ++i) {
    if (rule.slots[i].type != 'i' && rule.slots[i].type != 'f') {
      fail(fmt::format("slot '{}' is neither of type i nor f", rule.slots[i].name));
    }
  }
}

char node_type(const egg_rule& rule, const std::vector<char>& types, uint32_t i) {
  const egg_rule_node& node = rule.nodes[i];
  if (node.code < 0 || node.code >= EGG_RULE_COUNT) fail(fmt::format("node {} has the unknown code {}", i, node.code));
  const RuleOpInfo& info = kRuleOpInfo[static_cast<size_t>(node.code)];
  const std::string who = fmt::format("node {} ({})", i, info.name);
  char any = 't';
  for (size_t k = 0; k < 3; ++k) {
    if (k >= info.operands.size()) {
      if (node.in[k] != -1) fail(who + " has an operand too many");
      continue;
    }
    if (node.in[k] < 0 || node.in[k] >= static_cast<int32_t>(i))
      fail(who + " has an operand that is not an earlier node");
    const char type = types[static_cast<size_t>(node.in[k])];
    const char wanted = info.operands[k] == 't' ? (any == 't' ? any = type : any) : info.operands[k];
    if (type != wanted) fail(fmt::format("{}: operand {} is of type {}, expected {}", who, k, type, wanted));
  }
  const bool slot = node.code == EGG_RULE_SLOT;
  const bool scalar = node.code == EGG_RULE_SCALAR;
  const uint32_t limit = slot ? rule.slot_count : rule.scalar_count;
  if ((slot || scalar) && (node.index < 0 || static_cast<uint32_t>(node.index) >= limit)) {
    fail(fmt::format("{} has index {}, expected 0 to {}", who, node.index, int64_t{limit} - 1));
  }
  if (slot) return static_cast<char>(rule.slots[node.index].type);
  return info.result == 't' ? any : info.result;
}

}  // namespace

std::vector<char> rule_types(const egg_rule& rule) {
  check_header(rule);
  std::vector<char> types;
  for (uint32_t i = 0; i < rule.node_count; ++i) types.push_back(node_type(rule, types, i));
  const auto type_of = [&](int32_t node, const std::string& what) {
    if (node < 0 || node >= static_cast<int32_t>(rule.node_count)) fail(what + " is no node of the rule");
    return types[static_cast<size_t>(node)];
  };
  if (type_of(rule.delta, "the weight change") != 'i') fail("the weight change is a float, expected an integer");
  for (uint32_t i = 0; i < rule.slot_count; ++i) {
    const std::string what = fmt::format("the new value of slot '{}'", rule.slots[i].name);
    if (type_of(rule.slots[i].node, what) != rule.slots[i].type) fail(what + " has another type than the slot");
  }
  return types;
}

void require_votes_fit(const egg_rule& rule, const egg_noise& noise, uint32_t pairs) {
  bool reads_integer_vote = false;
  for (uint32_t i = 0; i < rule.node_count; ++i) reads_integer_vote |= rule.nodes[i].code == EGG_RULE_VOTE_I32;
  const int64_t amplitude = noise_max(noise.distribution);
  const int64_t largest = int64_t{pairs} * 127 * amplitude * amplitude * noise.rank;
  if (reads_integer_vote && largest > std::numeric_limits<int32_t>::max()) {
    throw Error(fmt::format("a vote can reach {} with {} pairs, more than the rule's int32 vote holds; use a smaller "
                            "population or a rule that reads the vote as float32",
                            largest, pairs),
                EGG_ERROR_UNSUPPORTED);
  }
}

Rule::Rule(const egg_rule& source) : view_(source) {
  rule_types(source);
  nodes_.assign(source.nodes, source.nodes + source.node_count);
  slots_.assign(source.slots, source.slots + source.slot_count);
  scalar_names_.assign(source.scalar_names, source.scalar_names + source.scalar_count);
  names_.reserve(slots_.size() + scalar_names_.size());
  for (egg_slot& slot : slots_) slot.name = names_.emplace_back(slot.name).c_str();
  for (const char*& name : scalar_names_) name = names_.emplace_back(name).c_str();
  view_.nodes = nodes_.data();
  view_.slots = slots_.data();
  view_.scalar_names = scalar_names_.data();
}

std::string Rule::text() const {
  std::string text = "rule\n";
  const auto out = std::back_inserter(text);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const egg_rule_node& node = nodes_[i];
    const RuleOpInfo& info = kRuleOpInfo[static_cast<size_t>(node.code)];
    fmt::format_to(out, "node %{} = {}", i, info.name);
    for (size_t k = 0; k < info.operands.size(); ++k) fmt::format_to(out, " %{}", node.in[k]);
    if (node.code == EGG_RULE_SLOT) fmt::format_to(out, " {}", slots_[static_cast<size_t>(node.index)].name);
    if (node.code == EGG_RULE_SCALAR) fmt::format_to(out, " {}", scalar_names_[static_cast<size_t>(node.index)]);
    if (node.code == EGG_RULE_CONST_I32) fmt::format_to(out, " {}", node.integer);
    if (node.code == EGG_RULE_CONST_F32) fmt::format_to(out, " {}", node.real);
    text += '\n';
  }
  for (const egg_slot& slot : slots_) {
    fmt::format_to(out, "slot {} {} = %{}\n", slot.name, slot.type == 'i' ? "int32" : "float32", slot.node);
  }
  fmt::format_to(out, "weight = clip(weight + %{})\n", view_.delta);
  return text;
}

Rule idle_rule() {
  RuleBuilder builder;
  builder.delta(builder.constant(0));
  return Rule(*builder.view());
}

std::string Rule::hash() const { return sha256_hex(text()); }

}  // namespace eggroll
