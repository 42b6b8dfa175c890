// The avx2 backend: the population-tile engine on AVX2, with AVX-VNNI where the processor has it.
#include "common/x86_features.h"
#include "eggroll/backend.h"
#include "open.h"

namespace eggroll::tile {
namespace {

bool has_avx_vnni() { return __builtin_cpu_supports("avxvnni") != 0; }

class Avx2Backend : public Backend {
 public:
  explicit Avx2Backend(Settings& settings) { settings.finish(); }
  bool supports_op(const egg_program&, uint32_t) override { return true; }
  bool supports_rule_op(int32_t) override { return true; }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override {
    return has_avx_vnni() ? open_avx_vnni(spec) : open_avx2(spec);
  }
};

int32_t probe_avx2(egg_error* why) {
  const X86Feature features[] = {
      {"sse4.2", __builtin_cpu_supports("sse4.2") != 0, false},
      {"avx", __builtin_cpu_supports("avx") != 0, false},
      {"avx2", __builtin_cpu_supports("avx2") != 0, true},
  };
  return probe_x86(features, std::size(features), has_avx_vnni() ? 200 : 100, why);
}

}  // namespace
}  // namespace eggroll::tile

EGGROLL_BACKEND("avx2", "1.0.0", eggroll::tile::Avx2Backend, &eggroll::tile::probe_avx2);
