#include "report/figures.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace eggroll {

std::string text_of(double value) { return fmt::format("{:.4g}", value == 0.0 ? 0.0 : value); }

std::string percent(double share) { return fmt::format("{:.3g} %", 100.0 * share); }

std::string short_count(double value) {
  for (const auto& [size, unit] : std::array<std::pair<double, const char*>, 3>{{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}}) {
    if (std::abs(value) >= size) return fmt::format("{:.3g} {}", value / size, unit);
  }
  return fmt::format("{:.3g}", value);
}

std::string bytes_text(double bytes) {
  constexpr double kKi = 1024.0;
  if (bytes >= kKi * kKi * kKi) return fmt::format("{:.1f} GiB", bytes / (kKi * kKi * kKi));
  if (bytes >= kKi * kKi) return fmt::format("{:.1f} MiB", bytes / (kKi * kKi));
  return fmt::format("{:.0f} KiB", bytes / kKi);
}

std::string seconds_text(double seconds) {
  if (seconds >= 7200.0) return fmt::format("{:.1f} h", seconds / 3600.0);
  if (seconds >= 120.0) return fmt::format("{:.1f} min", seconds / 60.0);
  if (seconds >= 1.0) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} µs", 1e6 * seconds);
}

std::string count_text(size_t count, const std::string& of_what) {
  return fmt::format("{} {}{}", count, of_what, count == 1 ? "" : "s");
}

std::string text_of(const Mean& mean, const std::string& of_what) {
  const std::string count = count_text(mean.n, of_what);
  if (!mean.interval) return fmt::format("{} ({}, no interval)", text_of(mean.mean), count);
  return fmt::format("{} (95 % interval {} to {}, {})", text_of(mean.mean), text_of(mean.interval->low),
                     text_of(mean.interval->high), count);
}

}  // namespace eggroll
