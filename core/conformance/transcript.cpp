#include "conformance/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "eggroll/error.h"

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

void append_guarded(Transcript& transcript, const std::string& name, const std::vector<uint8_t>& memory, size_t offset,
                    size_t size) {
  const auto begin = memory.begin() + static_cast<ptrdiff_t>(offset);
  const auto end = begin + static_cast<ptrdiff_t>(size);
  const auto is_guard = [](uint8_t byte) { return byte == kGuardByte; };
  if (!std::all_of(memory.begin(), begin, is_guard) || !std::all_of(end, memory.end(), is_guard)) {
    throw Error(fmt::format("it wrote outside the buffer of the {}", name));
  }
  transcript.parts.push_back({name, std::vector<uint8_t>(begin, end)});
}

}  // namespace eggroll
