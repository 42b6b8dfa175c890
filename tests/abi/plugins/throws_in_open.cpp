// Written in C++ without the guard: its open lets exceptions out. Setting "what" says which.
#include <stdexcept>

#include "eggroll/plugin_adapter.h"

namespace {

struct Unknown {};

int32_t open_plugin(const egg_settings* settings, void**, egg_error*) {
  if (eggroll::Settings(settings).text("what") == "runtime_error") throw std::runtime_error("no such device");
  throw Unknown{};
}

void close_plugin(void*) {}

int32_t program(void*, const egg_program**, egg_error*) { return EGG_OK; }

constexpr egg_model_interface kTable{sizeof(egg_model_interface), 0, &program};

}  // namespace

EGGROLL_EXPORT_PLUGIN({EGG_MAGIC, EGG_ABI_MAJOR, EGG_ABI_MINOR, sizeof(egg_plugin_descriptor), EGG_KIND_MODEL, 0,
                       EGG_SPEC_HASH, "throws_in_open", "1.0", "by hand", &eggroll::probe_always, &open_plugin,
                       &close_plugin, &kTable});
