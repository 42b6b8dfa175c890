#include "system/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "eggroll/session_plan.h"

namespace eggroll {
namespace {

constexpr std::array<std::pair<double, const char*>, 4> kUnits = {{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};

}  // namespace

std::string text_of(double value) { return fmt::format("{:.4g}", value == 0.0 ? 0.0 : value); }

Decimals::Decimals(const std::vector<double>& together) {
  constexpr double kSmallest = 1e-6;
  double largest = 0.0;
  for (const double value : together) largest = std::max(largest, std::abs(value));
  if (largest == 0.0) count_ = 0;
  // A little more, in case rounding left a power of ten just below.
  if (largest >= kSmallest) count_ = std::max(0, 3 - static_cast<int>(std::floor(std::log10(largest) + 1e-9)));
}

Decimals& Decimals::with_digits_of(const std::vector<double>& values) {
  constexpr int kMost = 8;
  for (const double value : values) {
    if (value == 0.0 || count_ < 0) continue;
    const int needed = 1 - static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
    count_ = std::max(count_, std::min(needed, kMost));
  }
  return *this;
}

std::string Decimals::operator()(double value) const {
  if (count_ < 0) return text_of(value);
  const std::string text = fmt::format("{:.{}f}", value, count_);
  // What is rounded to 0 has no sign.
  return text.find_first_of("123456789") == std::string::npos && text.front() == '-' ? text.substr(1) : text;
}

Counts::Counts(const std::vector<double>& together) {
  constexpr int kMost = 4;
  double largest = 0.0;
  double smallest = 0.0;  // but for 0
  for (const double value : together) {
    largest = std::max(largest, std::abs(value));
    if (value != 0.0) smallest = smallest == 0.0 ? std::abs(value) : std::min(smallest, std::abs(value));
  }
  if (largest == 0.0) return;
  for (const auto& [size, unit] : kUnits) {
    if (largest < size) continue;
    size_ = size;
    unit_ = unit;
    break;
  }
  // Three digits of the largest, and two of the smallest.
  const auto behind_point = [&](double value, int digits) {
    return digits - 1 - static_cast<int>(std::floor(std::log10(value / size_) + 1e-9));
  };
  decimals_ = std::clamp(std::max(behind_point(largest, 3), behind_point(smallest, 2)), 0, kMost);
}

std::string Counts::operator()(double value) const {
  return fmt::format("{:.{}f}{}{}", value / size_, decimals_, *unit_ == '\0' ? "" : " ", unit_);
}

std::string p_text(double p) {
  constexpr double kSmallest = 1e-4;
  return p < kSmallest ? "< 0.0001" : fmt::format("{:.4f}", p);
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100.0 * share); }

std::string short_count(double value) {
  for (const auto& [size, unit] : kUnits) {
    if (std::abs(value) >= size) return fmt::format("{:.3g} {}", value / size, unit);
  }
  return fmt::format("{:.3g}", value);
}

std::string grouped(double value) {
  constexpr double kLargest = 1e15;
  if (value != std::floor(value) || std::abs(value) >= kLargest) return fmt::format("{:.4g}", value);
  std::string digits = fmt::format("{:.0f}", std::abs(value));
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return value < 0.0 ? "-" + digits : digits;
}

std::string bytes_text(double bytes) {
  constexpr double kKi = 1024.0;
  return bytes >= kKi * kKi ? memory_text(static_cast<uint64_t>(bytes)) : fmt::format("{:.0f} KiB", bytes / kKi);
}

std::string seconds_text(double seconds) {
  if (seconds >= 7200.0) return fmt::format("{:.1f} h", seconds / 3600.0);
  if (seconds >= 120.0) return fmt::format("{:.1f} min", seconds / 60.0);
  if (seconds >= 1.0) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} µs", 1e6 * seconds);
}

std::string duration_text(double seconds) {
  const auto s = static_cast<int64_t>(std::lround(seconds));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
}

std::string count_text(size_t count, const std::string& of_what) {
  return fmt::format("{} {}{}", count, of_what, count == 1 ? "" : "s");
}

}  // namespace eggroll
