// What the four adapters share: they construct and destroy plugins behind the guard. Authors include model.h,
// optimizer.h, backend.h or processes.h instead.
#ifndef EGGROLL_PLUGIN_ADAPTER_H
#define EGGROLL_PLUGIN_ADAPTER_H

#include <memory>
#include <type_traits>

#include "eggroll/error.h"
#include "eggroll/plugin.h"
#include "eggroll/settings.h"
#include "eggroll/spec.h"

namespace eggroll {

// Compiler, flags and commit. eggroll_add_plugin adds a source that defines them.
#ifdef EGGROLL_PLUGIN_KNOWS_BUILD
extern const char plugin_build[];
#else
inline const char plugin_build[] = "unknown build";
#endif

// The default probe: the plugin runs everywhere and has the lowest score.
inline int32_t probe_always(egg_error*) { return 1; }

template <class Plugin>
int32_t open_plugin(const egg_settings* settings, void** self, egg_error* error) noexcept {
  return guard(error, [&] {
    Settings reader(settings);
    auto plugin = std::make_unique<Plugin>(reader);
    reader.finish();
    *self = plugin.release();
  });
}

template <class Plugin>
void close_plugin(void* self) noexcept {
  delete static_cast<Plugin*>(self);
}

// The C function that calls kMember of the Self that `self` points to, behind the guard. If the member takes a struct
// by reference, the function takes its address.
template <class Self, auto kMember>
struct GuardedCall;

template <class Self, class Class, class... Arguments, void (Class::*kMember)(Arguments...)>
requires(!std::is_reference_v<Arguments> && ...) struct GuardedCall<Self, kMember> {
  static int32_t call(void* self, Arguments... arguments, egg_error* error) noexcept {
    return guard(error, [&] { (static_cast<Self*>(self)->*kMember)(arguments...); });
  }
};

template <class Self, class Class, class Struct, void (Class::*kMember)(const Struct&)>
struct GuardedCall<Self, kMember> {
  static int32_t call(void* self, const Struct* arguments, egg_error* error) noexcept {
    return guard(error, [&] { (static_cast<Self*>(self)->*kMember)(*arguments); });
  }
};

template <class Plugin>
constexpr egg_plugin_descriptor describe(egg_kind kind, const char* name, const char* version,
                                         int32_t (*probe)(egg_error*), const void* interface_table) {
  return egg_plugin_descriptor{EGG_MAGIC,
                               EGG_ABI_MAJOR,
                               EGG_ABI_MINOR,
                               sizeof(egg_plugin_descriptor),
                               kind,
                               0,
                               EGG_SPEC_HASH,
                               name,
                               version,
                               plugin_build,
                               probe,
                               &open_plugin<Plugin>,
                               &close_plugin<Plugin>,
                               interface_table};
}

}  // namespace eggroll

#define EGGROLL_EXPORT_PLUGIN(...)                              \
  extern "C" EGG_EXPORT const egg_plugin_descriptor egg_plugin; \
  extern "C" constinit const egg_plugin_descriptor egg_plugin = __VA_ARGS__

#endif
