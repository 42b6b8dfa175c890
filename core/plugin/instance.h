// Opened plugins, as the host uses them. A failed call throws Error led by the plugin's kind and name; its key is the
// plugin's setting at fault, if one is.
#ifndef EGGROLL_PLUGIN_INSTANCE_H
#define EGGROLL_PLUGIN_INSTANCE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eggroll/plugin.h"
#include "eggroll/session_plan.h"
#include "plugin/lent.h"
#include "plugin/registry.h"

namespace eggroll {

class Threads;

// What all kinds share: open, and close when the last one that needs it is gone. One thread at a time.
class Instance {
 public:
  const std::string& who() const { return who_; }  // "model 'gru'"

 protected:
  // settings are copied; throws Error where the plugin refuses them, or hangs beyond its limit.
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
  // (scalar_count) values of a step, counted from 0, after these evaluations. Throws Error where one is not finite.
  std::vector<float> scalars(uint64_t step, std::span<const egg_evaluation> evaluations) const;

 private:
  const egg_rule* rule_ = nullptr;
};

// An open session; see egg_backend_interface for shapes and meaning. It keeps its backend open, and fills in
// struct_size of every argument. A call throws Error if its plugin writes outside an array that it was given, or if it
// gives losses or changed counts that are impossible.
class BackendSession {
 public:
  BackendSession(BackendSession&&) = default;
  BackendSession& operator=(BackendSession&&) = delete;  // it would close the backend before the session

  // Its own members are [first_member(), first_member() + members()).
  uint32_t first_member() const { return spec_->first; }
  uint32_t members() const { return spec_->members; }
  uint32_t indices() const { return spec_->program->index_count; }
  void set_weights(uint32_t param, const int8_t* weights);
  void get_weights(uint32_t param, int8_t* weights);
  // The same into `memory`, which the caller can use again for other tensors. The result is valid until the next call
  // with it.
  const int8_t* get_weights(uint32_t param, Guarded<int8_t>& memory);
  void set_slot(uint32_t param, uint32_t slot, const void* data);
  void get_slot(uint32_t param, uint32_t slot, void* data);
  const uint32_t* get_slot(uint32_t param, uint32_t slot, Guarded<uint32_t>& memory);
  void set_states(uint32_t first, uint32_t count, const int8_t* states);
  void get_states(uint32_t first, uint32_t count, int8_t* states);
  // threads: for the host's part of the work; null: the caller's thread does it.
  void evaluate(egg_evaluate arguments, Threads* threads = nullptr);
  // The same, but gives the difference of each pair, the odd member's loss less the even member's, in d: (count / 2).
  // Returns the sum of all losses. arguments.losses is not read.
  int64_t differences_of(egg_evaluate arguments, int64_t* d, Threads* threads);
  // Prepares the array of the next evaluation, of this number of members, which takes a while where they are millions.
  // The losses of the last one are gone. May be called while update() is under way on another thread.
  void expect_losses(uint32_t count, Threads* threads);
  void update(egg_update arguments);
  // threads: as of evaluate().
  void infer(egg_infer arguments, Threads* threads = nullptr);
  // part: its arrays are filled, or read.
  void get_site_part(egg_site_part part);
  void add_site_part(egg_site_part part);

 private:
  friend class BackendInstance;
  BackendSession(std::string who, const egg_backend_interface& table, std::shared_ptr<void> backend,
                 const egg_session_spec& spec);

  // Throws Error where a call would read past the program's context.
  void require_context(const egg_batch& batch) const;
  // Calls evaluate() of the plugin. Returns the losses, (count), until the next call; they may be impossible.
  const int64_t* unchecked_losses_of(egg_evaluate arguments, Threads* threads);
  // What the losses of the batch's tokens add up to at most.
  uint64_t largest_sum(const egg_batch& batch) const;
  // Throws Error if a loss is not in [0, largest_sum()].
  void require_losses(const int64_t* losses, uint64_t count, const egg_batch& batch, const char* function,
                      Threads* threads) const;
  // Throws Error that names the first loss outside [0, largest_sum()]. There is one.
  [[noreturn]] void refuse_losses(const int64_t* losses, uint64_t count, const egg_batch& batch,
                                  const char* function) const;
  // Throws Error if votes depend on what was read and the call leaves it out.
  void require_read(const egg_update& update) const;
  // Throws Error where a session with sites is to evaluate other windows than its own.
  void require_windows(const egg_evaluate& evaluate) const;
  // Throws Error where the sums of a site are impossible, or the losses of its streams differ within one.
  void require_sums(const egg_evaluate& evaluate) const;
  // changed: (param_count)
  void require_changed(const int64_t* changed) const;

  // function(session, arguments..., error); name: of the function
  template <class Function, class... Arguments>
  void call(const char* name, Function function, Arguments... arguments);

  std::string who_;
  const egg_backend_interface* table_;
  // In this order, so that the session closes before what it needs goes.
  std::shared_ptr<void> backend_;
  std::unique_ptr<egg_session_spec> spec_;
  std::shared_ptr<void> session_;
  Guarded<int64_t> losses_;           // of evaluate(), which every step calls
  std::optional<uint32_t> expected_;  // how many of them expect_losses() has prepared
  Guarded<int8_t> states_;            // of infer()
  Guarded<int16_t> part_errors_;      // of get_site_part(), which every step of processes with sites calls
  Guarded<uint8_t> part_perturbed_;
  Guarded<int64_t> part_votes_;
};

class BackendInstance : public Instance {
 public:
  BackendInstance(const ChosenPlugin& plugin, const egg_settings& settings);

  bool supports_op(const egg_program& program, uint32_t op) const;
  bool supports_rule_op(int32_t code) const;
  // Throws Error naming every op of the program and of the rule that this backend lacks.
  void require_support(const egg_program& program, const egg_rule& rule) const;
  // Throws Error (EGG_ERROR_UNSUPPORTED) that names the first value of the spec's sites that it cannot perturb so.
  void require_sites(const egg_session_spec& spec) const;
  // What open_session would make of the spec now. Throws Error where it does not fit, and where the plan is not as
  // egg_session_plan says.
  SessionPlan plan_session(egg_session_spec spec) const;
  // The spec is copied; the program and the rule it points to must outlive the session.
  BackendSession open_session(const egg_session_spec& spec) const;
};

// What carries bytes between the processes of a run; see egg_processes_interface for order, shapes and meaning.
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
