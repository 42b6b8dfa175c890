// For model authors: derive from eggroll::Model, read the settings in the constructor, return a program.
//
//   class Tiny : public eggroll::Model { public: explicit Tiny(eggroll::Settings& settings); ... };
//   EGGROLL_MODEL("tiny", "1.0.0", Tiny);
#ifndef EGGROLL_MODEL_H
#define EGGROLL_MODEL_H

#include "eggroll/plugin_adapter.h"
#include "eggroll/program_builder.h"

namespace eggroll {

class Model {
 public:
  virtual ~Model() = default;
  // Stays valid while the model lives.
  virtual const egg_program* program() = 0;
};

template <class Plugin>
struct ModelAdapter {
  static int32_t program(void* self, const egg_program** out, egg_error* error) noexcept {
    return guard(error, [&] { *out = static_cast<Plugin*>(self)->program(); });
  }
  static constexpr egg_model_interface kInterface{sizeof(egg_model_interface), 0, &program};
};

}  // namespace eggroll

#define EGGROLL_MODEL(NAME, VERSION, CLASS)                                                                 \
  EGGROLL_EXPORT_PLUGIN(::eggroll::describe<CLASS>(EGG_KIND_MODEL, NAME, VERSION, &::eggroll::probe_always, \
                                                   &::eggroll::ModelAdapter<CLASS>::kInterface))

#endif
