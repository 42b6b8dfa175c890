// For authors of plugins that carry bytes between the processes of a run: derive from eggroll::ProcessesPlugin.
//
//   EGGROLL_PROCESSES("my_network", "1.0.0", MyNetwork, &MyNetwork::probe);
#ifndef EGGROLL_PROCESSES_H
#define EGGROLL_PROCESSES_H

#include "eggroll/plugin_adapter.h"

namespace eggroll {

// egg_processes_interface says in which order the host calls the functions.
class ProcessesPlugin {
 public:
  virtual ~ProcessesPlugin() = default;
  virtual void join(uint32_t& process, uint32_t& size) = 0;
  virtual void gather_begin(const void* mine, const uint64_t* sizes, void* all) = 0;
  virtual void gather_end() = 0;
  virtual void collect(const void* mine, const uint64_t* sizes, void* all) = 0;
  virtual void broadcast(void* bytes, uint64_t size) = 0;
  virtual void leave() = 0;
  virtual void abort(int32_t exit_code) noexcept = 0;
};

template <class Plugin>
struct ProcessesAdapter {
  static int32_t join(void* self, uint32_t* process, uint32_t* size, egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->join(*process, *size); });
  }
  template <auto kMember>
  static constexpr auto kCall = &GuardedCall<Plugin, kMember>::call;
  static void abort(void* self, int32_t exit_code) noexcept { static_cast<Plugin*>(self)->abort(exit_code); }
  static constexpr egg_processes_interface kInterface{sizeof(egg_processes_interface),
                                                      0,
                                                      &join,
                                                      kCall<&ProcessesPlugin::gather_begin>,
                                                      kCall<&ProcessesPlugin::gather_end>,
                                                      kCall<&ProcessesPlugin::collect>,
                                                      kCall<&ProcessesPlugin::broadcast>,
                                                      kCall<&ProcessesPlugin::leave>,
                                                      &abort};
};

}  // namespace eggroll

#define EGGROLL_PROCESSES(NAME, VERSION, CLASS, PROBE)                                       \
  EGGROLL_EXPORT_PLUGIN(::eggroll::describe<CLASS>(EGG_KIND_PROCESSES, NAME, VERSION, PROBE, \
                                                   &::eggroll::ProcessesAdapter<CLASS>::kInterface))

#endif
