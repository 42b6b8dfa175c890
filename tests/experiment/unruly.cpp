// An optimizer that moves nothing and, at its third step, does what its setting says: nothing, segfault, abort, eat,
// hang, or, when it is opened, crash or leave.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "eggroll/optimizer.h"

namespace eggroll {
namespace {

class Unruly : public Optimizer {
 public:
  explicit Unruly(Settings& settings) : does_(settings.text("does")) {
    settings.finish();
    if (does_ == "crash") crash();
    if (does_ == "leave") std::exit(0);
    builder_.scalar("unused");
    builder_.delta(builder_.constant(0));
  }

  const egg_rule* rule() override { return builder_.view(); }

  void scalars(const egg_progress& progress, float* out) override {
    out[0] = 0.0F;
    if (progress.step != 2) return;
    if (does_ == "segfault") crash();
    if (does_ == "abort") std::abort();
    if (does_ == "eat") eat();
    if (does_ == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  }

 private:
  // Ends the process by SIGSEGV, even under a sanitizer, which would catch the signal.
  static void crash() {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }

  [[noreturn]] static void eat() {
    std::vector<std::vector<char>> eaten;
    while (true) {
      eaten.emplace_back(std::size_t{1} << 20, 'x');
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::string does_;
  RuleBuilder builder_;
};

}  // namespace
}  // namespace eggroll

EGGROLL_OPTIMIZER("unruly", "1.0.0", eggroll::Unruly);
