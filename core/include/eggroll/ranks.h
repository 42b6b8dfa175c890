// For authors of what carries bytes between the processes of a run: derive from eggroll::RanksPlugin.
//
//   EGGROLL_RANKS("my_network", "1.0.0", MyNetwork, &MyNetwork::probe);
#ifndef EGGROLL_RANKS_H
#define EGGROLL_RANKS_H

#include "eggroll/plugin_adapter.h"

namespace eggroll {

// See egg_ranks_interface for the order of calls.
class RanksPlugin {
 public:
  virtual ~RanksPlugin() = default;
  virtual void join(uint32_t& rank, uint32_t& size) = 0;
  virtual void gather_begin(const void* mine, const uint64_t* sizes, void* all) = 0;
  virtual void gather_end() = 0;
  virtual void collect(const void* mine, const uint64_t* sizes, void* all) = 0;
  virtual void broadcast(void* bytes, uint64_t size) = 0;
  virtual void leave() = 0;
  virtual void abort(int32_t exit_code) noexcept = 0;
};

template <class Plugin>
struct RanksAdapter {
  static int32_t join(void* self, uint32_t* rank, uint32_t* size, egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->join(*rank, *size); });
  }
  static int32_t gather_begin(void* self, const void* mine, const uint64_t* sizes, void* all,
                              egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->gather_begin(mine, sizes, all); });
  }
  static int32_t gather_end(void* self, egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->gather_end(); });
  }
  static int32_t collect(void* self, const void* mine, const uint64_t* sizes, void* all, egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->collect(mine, sizes, all); });
  }
  static int32_t broadcast(void* self, void* bytes, uint64_t size, egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->broadcast(bytes, size); });
  }
  static int32_t leave(void* self, egg_error* error) noexcept {
    return guard(error, [&] { static_cast<Plugin*>(self)->leave(); });
  }
  static void abort(void* self, int32_t exit_code) noexcept { static_cast<Plugin*>(self)->abort(exit_code); }
  static constexpr egg_ranks_interface kInterface{
      sizeof(egg_ranks_interface), 0, &join, &gather_begin, &gather_end, &collect, &broadcast, &leave, &abort};
};

}  // namespace eggroll

#define EGGROLL_RANKS(NAME, VERSION, CLASS, PROBE) \
  EGGROLL_EXPORT_PLUGIN(                           \
      ::eggroll::describe<CLASS>(EGG_KIND_RANKS, NAME, VERSION, PROBE, &::eggroll::RanksAdapter<CLASS>::kInterface))

#endif
