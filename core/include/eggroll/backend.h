// For backend authors: derive from eggroll::Backend and eggroll::Session.
//
//   EGGROLL_BACKEND("mine", "1.0.0", MyBackend, my_probe);   // int32_t my_probe(egg_error* why)
#ifndef EGGROLL_BACKEND_H
#define EGGROLL_BACKEND_H

#include <memory>

#include "eggroll/plugin_adapter.h"
#include "eggroll/session_plan.h"

namespace eggroll {

// A session computes one program and one rule for members of one population. plugin.h has shapes and meaning.
class Session {
 public:
  virtual ~Session() = default;
  virtual void set_weights(uint32_t param, const int8_t* weights) = 0;
  virtual void get_weights(uint32_t param, int8_t* weights) = 0;
  virtual void set_slot(uint32_t param, uint32_t slot, const void* data) = 0;
  virtual void get_slot(uint32_t param, uint32_t slot, void* data) = 0;
  virtual void set_states(uint32_t first, uint32_t count, const int8_t* states) = 0;
  virtual void get_states(uint32_t first, uint32_t count, int8_t* states) = 0;
  virtual void evaluate(const egg_evaluate& arguments) = 0;
  virtual void update(const egg_update& arguments) = 0;
  virtual void infer(const egg_infer& arguments) = 0;
  // Called only for sessions with sites, if several share a run or a case of `eggroll check`. A backend that supports
  // no sites need not override them.
  virtual void get_site_part(const egg_site_part& /*part*/) { throw_no_sites(); }
  virtual void add_site_part(const egg_site_part& /*part*/) { throw_no_sites(); }

 private:
  [[noreturn]] static void throw_no_sites() {
    throw Error("this backend shares no sites among processes, expected one that does; start one process",
                EGG_ERROR_UNSUPPORTED);
  }
};

inline bool is_chosen(const egg_update& update, uint32_t param) {
  return update.chosen == nullptr || update.chosen[param] != 0;
}

class Backend {
 public:
  virtual ~Backend() = default;
  // They return false for an op that the backend lacks, or lacks in this shape: a run that needs it is then refused
  // before it starts. A backend that dispatches by EGG_OPS and EGG_RULE_OPS compiles only if it has all ops.
  virtual bool supports_op(const egg_program& /*program*/, uint32_t /*op_index*/) { return true; }
  virtual bool supports_rule_op(int32_t /*code*/) { return true; }
  virtual bool supports_site(const egg_program& /*program*/, const egg_site& /*site*/) { return false; }
  // Returns the plan of the session that open_session would open. Throws no_room's Error if it does not fit.
  virtual SessionPlan plan_session(const egg_session_spec& spec) = 0;
  virtual std::unique_ptr<Session> open_session(const egg_session_spec& spec) = 0;
};

template <class Plugin>
struct BackendAdapter {
  static int32_t supports_op(void* self, const egg_program* program, uint32_t op) noexcept {
    bool yes = false;
    return guard(nullptr, [&] { yes = static_cast<Plugin*>(self)->supports_op(*program, op); }) == EGG_OK && yes;
  }
  static int32_t supports_rule_op(void* self, int32_t code) noexcept {
    bool yes = false;
    return guard(nullptr, [&] { yes = static_cast<Plugin*>(self)->supports_rule_op(code); }) == EGG_OK && yes;
  }
  static int32_t supports_site(void* self, const egg_program* program, const egg_site* site) noexcept {
    bool yes = false;
    const auto ask = [&] { yes = static_cast<Plugin*>(self)->supports_site(*program, *site); };
    return guard(nullptr, ask) == EGG_OK && yes;
  }
  static int32_t session_plan(void* self, const egg_session_spec* spec, egg_session_plan* plan,
                              egg_error* error) noexcept {
    return guard(error, [&] { write_plan(static_cast<Plugin*>(self)->plan_session(*spec), *plan); });
  }
  static int32_t session_open(void* self, const egg_session_spec* spec, void** out, egg_error* error) noexcept {
    return guard(error, [&] { *out = static_cast<Plugin*>(self)->open_session(*spec).release(); });
  }
  static void session_close(void* handle) noexcept { delete static_cast<Session*>(handle); }
  template <auto kMember>
  static constexpr auto kCall = &GuardedCall<Session, kMember>::call;
  static constexpr egg_backend_interface kInterface{sizeof(egg_backend_interface),
                                                    0,
                                                    &supports_op,
                                                    &supports_rule_op,
                                                    &supports_site,
                                                    &session_plan,
                                                    &session_open,
                                                    &session_close,
                                                    kCall<&Session::set_weights>,
                                                    kCall<&Session::get_weights>,
                                                    kCall<&Session::set_slot>,
                                                    kCall<&Session::get_slot>,
                                                    kCall<&Session::set_states>,
                                                    kCall<&Session::get_states>,
                                                    kCall<&Session::evaluate>,
                                                    kCall<&Session::update>,
                                                    kCall<&Session::infer>,
                                                    kCall<&Session::get_site_part>,
                                                    kCall<&Session::add_site_part>};
};

}  // namespace eggroll

#define EGGROLL_BACKEND(NAME, VERSION, CLASS, PROBE)                                       \
  EGGROLL_EXPORT_PLUGIN(::eggroll::describe<CLASS>(EGG_KIND_BACKEND, NAME, VERSION, PROBE, \
                                                   &::eggroll::BackendAdapter<CLASS>::kInterface))

#endif
