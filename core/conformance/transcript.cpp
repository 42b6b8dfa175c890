#include "conformance/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace eggroll {

std::string first_difference(const Transcript& expected, const Transcript& actual) {
  if (expected.parts.size() != actual.parts.size()) return "it returned another number of parts";
  for (size_t p = 0; p < expected.parts.size(); ++p) {
    const Transcript::Part& e = expected.parts[p];
    const Transcript::Part& a = actual.parts[p];
    if (e.bytes == a.bytes) continue;
    const auto [at, other] = std::mismatch(e.bytes.begin(), e.bytes.end(), a.bytes.begin(), a.bytes.end());
    const auto total = std::inner_product(e.bytes.begin(), e.bytes.end(), a.bytes.begin(), size_t{0}, std::plus<>(),
                                          [](uint8_t x, uint8_t y) { return x != y ? size_t{1} : size_t{0}; });
    return fmt::format("{}: byte {} is {}, expected {}; {} of {} bytes differ", e.name, at - e.bytes.begin(), *other,
                       *at, total, e.bytes.size());
  }
  return "";
}

}  // namespace eggroll
