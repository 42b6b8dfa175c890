// A model whose open ends the process, as one does that reads what is not there.
#include <csignal>

#include "eggroll/plugin_adapter.h"

namespace {

int32_t open_plugin(const egg_settings*, void**, egg_error*) { return std::raise(SIGSEGV); }

void close_plugin(void*) {}

int32_t program(void*, const egg_program**, egg_error*) { return EGG_OK; }

constexpr egg_model_interface kTable{sizeof(egg_model_interface), 0, &program};

}  // namespace

EGGROLL_EXPORT_PLUGIN({EGG_MAGIC, EGG_ABI_MAJOR, EGG_ABI_MINOR, sizeof(egg_plugin_descriptor), EGG_KIND_MODEL, 0,
                       EGG_SPEC_HASH, "crashes_in_open", "1.0", "by hand", &eggroll::probe_always, &open_plugin,
                       &close_plugin, &kTable});
