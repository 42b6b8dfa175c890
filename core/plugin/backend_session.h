// A backend's open session, as the host uses it.
#ifndef EGGROLL_PLUGIN_BACKEND_SESSION_H
#define EGGROLL_PLUGIN_BACKEND_SESSION_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "eggroll/plugin.h"
#include "plugin/lent.h"

namespace eggroll {

class Threads;

// An open session; see egg_backend_interface for shapes and meaning. It keeps its backend open, and fills in
// struct_size of every argument. A call throws Error if its plugin writes outside an array that it was given, or if it
// gives losses or changed counts that are impossible.
class BackendSession {
 public:
  BackendSession(BackendSession&&) = default;
  BackendSession& operator=(BackendSession&&) = delete;  // it would close the backend before the session

  // The session's own members are [first_member(), first_member() + members()).
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
  // The same, but writes the difference of each pair, the odd member's loss less the even member's, to d: (count / 2).
  // Returns the sum of all losses. arguments.losses is not read.
  int64_t differences_of(egg_evaluate arguments, int64_t* d, Threads* threads);
  // Prepares the array for the losses of the next evaluation, of this number of members: for millions that takes a
  // while. The losses of the last one are gone. May be called while update() is under way on another thread.
  void expect_losses(uint32_t count, Threads* threads);
  void update(egg_update arguments);
  // threads: as for evaluate().
  void infer(egg_infer arguments, Threads* threads = nullptr);
  // part: get_site_part() fills its arrays, add_site_part() reads them.
  void get_site_part(egg_site_part part);
  void add_site_part(egg_site_part part);

 private:
  friend class BackendInstance;
  BackendSession(std::string who, const egg_backend_interface& table, std::shared_ptr<void> backend,
                 const egg_session_spec& spec);

  // Calls evaluate() of the plugin. Returns the losses, (count), until the next call; they may be impossible.
  const int64_t* unchecked_losses_of(egg_evaluate arguments, Threads* threads);

  // function(session, arguments..., error); name: of the function
  template <class Function, class... Arguments>
  void call(const char* name, Function function, Arguments... arguments);

  std::string who_;
  const egg_backend_interface* table_;
  // The order of these members matters: the session must close before what it needs.
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

}  // namespace eggroll

#endif
