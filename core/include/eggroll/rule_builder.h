// Optimizer plugins write their update rule with this: an expression per weight, evaluated after votes are counted.
#ifndef EGGROLL_RULE_BUILDER_H
#define EGGROLL_RULE_BUILDER_H

#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

// A node of the expression. Its type follows from the op (ops.h).
struct Node {
  int32_t id = -1;
};

class RuleBuilder {
 public:
  RuleBuilder() = default;
  // Continues a rule that exists.
  explicit RuleBuilder(const egg_rule& rule)
      : nodes_(rule.nodes, rule.nodes + rule.node_count),
        slots_(rule.slots, rule.slots + rule.slot_count),
        delta_(rule.delta) {
    for (egg_slot& slot : slots_) slot.name = keep(slot.name);
    for (uint32_t i = 0; i < rule.scalar_count; ++i) scalar_names_.push_back(keep(rule.scalar_names[i]));
  }

  Node vote_f32() { return add(EGG_RULE_VOTE_F32, {}); }
  Node vote_i32() { return add(EGG_RULE_VOTE_I32, {}); }
  Node vote_std() { return add(EGG_RULE_VOTE_STD, {}); }
  Node weight() { return add(EGG_RULE_WEIGHT, {}); }

  Node scalar(const std::string& name) {
    scalar_names_.push_back(keep(name));
    return add(EGG_RULE_SCALAR, {}, static_cast<int32_t>(scalar_names_.size()) - 1);
  }

  // A slot of type 'i' or 'f' for each weight. Returns its old value; set the new one with set_slot.
  Node slot(const std::string& name, char type) {
    slots_.push_back(egg_slot{keep(name), type, -1});
    return add(EGG_RULE_SLOT, {}, static_cast<int32_t>(slots_.size()) - 1);
  }

  void set_slot(Node slot, Node value) {
    slots_.at(static_cast<size_t>(nodes_.at(static_cast<size_t>(slot.id)).index)).node = value.id;
  }

  Node constant(int32_t value) {
    const Node node = add(EGG_RULE_CONST_I32, {});
    nodes_.back().integer = value;
    return node;
  }

  Node constant(float value) {
    const Node node = add(EGG_RULE_CONST_F32, {});
    nodes_.back().real = value;
    return node;
  }

  Node op(egg_rule_code code, std::initializer_list<Node> in) { return add(code, in); }

  // The whole-number change of the weight; the weight then saturates at +-127.
  void delta(Node node) { delta_ = node.id; }

  // Valid until the builder changes or dies.
  const egg_rule* view() {
    view_ = egg_rule{sizeof(egg_rule),
                     static_cast<uint32_t>(nodes_.size()),
                     static_cast<uint32_t>(slots_.size()),
                     static_cast<uint32_t>(scalar_names_.size()),
                     nodes_.data(),
                     slots_.data(),
                     scalar_names_.data(),
                     delta_,
                     0};
    return &view_;
  }

 private:
  const char* keep(const std::string& name) { return names_.emplace_back(name).c_str(); }

  Node add(int32_t code, std::initializer_list<Node> in, int32_t index = 0) {
    egg_rule_node node{code, {-1, -1, -1}, index, 0, 0.0F};
    size_t i = 0;
    for (const Node operand : in) node.in[i++] = operand.id;
    nodes_.push_back(node);
    return Node{static_cast<int32_t>(nodes_.size()) - 1};
  }

  std::deque<std::string> names_;
  std::vector<const char*> scalar_names_;
  std::vector<egg_rule_node> nodes_;
  std::vector<egg_slot> slots_;
  int32_t delta_ = -1;
  egg_rule view_{};
};

}  // namespace eggroll

#endif
