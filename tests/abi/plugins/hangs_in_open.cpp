// A model plugin whose open never returns.
#include <chrono>
#include <thread>

#include "eggroll/model.h"

namespace {

class Hangs : public eggroll::Model {
 public:
  explicit Hangs(eggroll::Settings& settings) {
    // Reads the settings for ever. The caller has stopped waiting, so the settings must be a copy that stays.
    for (;;) {
      if (settings.text("word") != "still here") throw eggroll::Error("the settings have changed");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const egg_program* program() override { return nullptr; }
};

}  // namespace

EGGROLL_MODEL("hangs_in_open", "1.0", Hangs);
