// Opened plugins, as the host uses them. A failed call throws Error led by the plugin's kind and name; its key is the
// plugin's setting at fault, if one is.
#ifndef EGGROLL_PLUGIN_INSTANCE_H
#define EGGROLL_PLUGIN_INSTANCE_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "eggroll/plugin.h"
#include "eggroll/session_plan.h"
#include "plugin/backend_session.h"
#include "plugin/registry.h"

namespace eggroll {

// The common part of all kinds: opens a plugin, and closes it when its last user is gone. One thread at a time.
class Instance {
 public:
  const std::string& who() const { return who_; }  // "model 'gru'"

 protected:
  // settings are copied; throws Error if the plugin refuses them, or hangs beyond its limit.
  Instance(const ChosenPlugin& plugin, egg_kind kind, const egg_settings& settings);

  template <class Table>
  const Table& table() const {
    return *static_cast<const Table*>(table_);
  }
  const std::shared_ptr<void>& self() const { return self_; }

 private:
  std::string who_;
  const void* table_;
  std::shared_ptr<void> self_;
};

class ModelInstance : public Instance {
 public:
  ModelInstance(const ChosenPlugin& plugin, const egg_settings& settings);
  const egg_program& program() const { return *program_; }  // valid while this lives; not yet validated

 private:
  const egg_program* program_ = nullptr;
};

class OptimizerInstance : public Instance {
 public:
  OptimizerInstance(const ChosenPlugin& plugin, const egg_settings& settings);
  const egg_rule& rule() const { return *rule_; }  // valid while this lives; not yet validated
  // (scalar_count) values of a step, counted from 0, after these evaluations. Throws Error if one is not finite.
  std::vector<float> scalars(uint64_t step, std::span<const egg_evaluation> evaluations) const;

 private:
  const egg_rule* rule_ = nullptr;
};

class BackendInstance : public Instance {
 public:
  BackendInstance(const ChosenPlugin& plugin, const egg_settings& settings);

  bool supports_op(const egg_program& program, uint32_t op) const;
  bool supports_rule_op(int32_t code) const;
  // Throws Error naming every op of the program and of the rule that this backend lacks.
  void require_support(const egg_program& program, const egg_rule& rule) const;
  // Throws Error (EGG_ERROR_UNSUPPORTED) that names the first value of the spec's sites which it cannot perturb.
  void require_sites(const egg_session_spec& spec) const;
  // The plan of the session that open_session would open now. Throws Error if it does not fit, or if the plan is not as
  // egg_session_plan requires.
  SessionPlan plan_session(egg_session_spec spec) const;
  // The spec is copied; the program and the rule it points to must outlive the session.
  BackendSession open_session(const egg_session_spec& spec) const;
};

// A plugin that carries bytes between a run's processes; egg_processes_interface has order, shapes and meaning.
class ProcessesInstance : public Instance {
 public:
  ProcessesInstance(const ChosenPlugin& plugin, const egg_settings& settings);

  void join(uint32_t& process, uint32_t& size);
  void gather_begin(const void* mine, const uint64_t* sizes, void* all);
  void gather_end();
  void collect(const void* mine, const uint64_t* sizes, void* all);
  void broadcast(void* bytes, uint64_t size);
  void leave();
  void abort(int32_t exit_code) noexcept;

 private:
  // function(self, arguments..., error); name: of the function
  template <class Function, class... Arguments>
  void call(const char* name, Function function, Arguments... arguments);
};

}  // namespace eggroll

#endif
