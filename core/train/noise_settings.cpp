// The config section `noise`, and what must hold between its keys.
#include "train/noise_settings.h"

#include <fmt/format.h>

#include "config/host_settings.h"
#include "eggroll/arithmetic.h"

namespace eggroll {

egg_noise read_noise(Settings& settings, uint64_t seed, int32_t fixed_point) {
  egg_noise noise{};
  noise.seed = seed;
  noise.source = settings.choice("source", {"counter", "table"});
  noise.distribution = settings.choice("distribution", {"gaussian", "uniform", "rademacher"});
  const HostSection host(settings, "noise");
  noise.rank = host.whole<int32_t>("rank");
  noise.sigma_shift = host.whole<int32_t>("sigma_shift");
  noise.sigma_vector_shift = host.whole<int32_t>("sigma_vector_shift");
  // linear shifts x*B by fixed_point + sigma_shift - EGG_LINEAR_GUARD_BITS, which may not be negative.
  if (fixed_point + noise.sigma_shift < EGG_LINEAR_GUARD_BITS) {
    const int32_t least = EGG_LINEAR_GUARD_BITS - fixed_point;
    throw setting_error("sigma_shift",
                        fmt::format("sigma_shift is {}, expected at least {} where fixed_point is {}; raise it",
                                    noise.sigma_shift, least, fixed_point));
  }
  if (noise.source == EGG_NOISE_TABLE) {
    noise.table_log2 = host.whole<int32_t>("table_log2");
  } else if (!settings.is_null("table_log2")) {
    throw setting_error("table_log2",
                        "table_log2 is set, expected null for source counter, which has no table; set it to null or "
                        "source to table");
  }
  settings.finish();
  return noise;
}

}  // namespace eggroll
