#include "data/generated.h"

#include <algorithm>
#include <limits>

#include "eggroll/noise.h"

namespace eggroll {
namespace {

template <class T>
Tokens narrowed(const std::vector<uint32_t>& values, const std::string& source) {
  std::vector<T> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(), [](uint32_t value) { return static_cast<T>(value); });
  return Tokens::own(std::move(narrow), source);
}

}  // namespace

uint64_t draw_key(uint64_t seed, DrawPurpose purpose) {
  return egg_noise_key(seed, EGG_STEP_DATA, static_cast<uint32_t>(purpose), 0, 0, 0);
}

uint32_t draw_below(uint32_t n, uint64_t key, uint32_t index) {
  return static_cast<uint32_t>((uint64_t{egg_noise_word(key, index)} * n) >> 32);
}

Tokens generated_tokens(const std::vector<uint32_t>& values, uint32_t vocab, const std::string& source) {
  return vocab <= 256 ? narrowed<uint8_t>(values, source) : narrowed<uint16_t>(values, source);
}

uint64_t read_seed(Settings& settings) {
  return static_cast<uint64_t>(settings.integer("seed", 0, std::numeric_limits<int64_t>::max()));
}

}  // namespace eggroll
