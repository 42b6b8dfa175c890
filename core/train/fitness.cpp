#include "train/fitness.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

#include "config/named.h"
#include "eggroll/noise.h"
#include "eggroll/row_voters.h"
#include "processes/packing.h"
#include "system/vector_clones.h"
#include "train/fitness_forms.h"

namespace eggroll {
namespace {

#define EGGROLL_ENTRY(name) {#name, fitness_forms::name},
constexpr Named<FitnessForm(Settings&)> kForms[] = {EGGROLL_FITNESS_FORMS(EGGROLL_ENTRY)};
#undef EGGROLL_ENTRY

constexpr size_t kFitnessBlock = 1024;
constexpr size_t kQuickBlock = 64;

// The sum of the squares of at most kFitnessBlock numbers; nothing if one does not fit kBits. No product here has
// factors of more than 32 bits and no comparison has 64 bits, so that the compiler can vectorize the loop.
constexpr uint32_t kBits = 27;
EGGROLL_WIDE std::optional<uint64_t> squares_of_block(const int64_t* d, size_t count) {
  uint64_t squares = 0;
  uint64_t high = 0;  // stays 0 while the numbers fit
  for (size_t k = 0; k < count; ++k) {
    high |= (static_cast<uint64_t>(d[k]) + (uint64_t{1} << (kBits - 1))) >> kBits;
    const auto narrow = static_cast<int32_t>(d[k]);
    const uint32_t magnitude = narrow < 0 ? uint32_t{0} - static_cast<uint32_t>(narrow) : static_cast<uint32_t>(narrow);
    squares += uint64_t{magnitude} * magnitude;
  }
  return high == 0 ? std::optional<uint64_t>(squares) : std::nullopt;
}

// The sum, if doubles would add it up without rounding: then the order does not matter. Nothing otherwise.
std::optional<uint64_t> sum_of_squares(std::span<const int64_t> d, Threads* threads) {
  constexpr uint64_t kExact = uint64_t{1} << 53;  // doubles hold every integer up to here
  static_assert(2 * (kBits - 1) < 53);
  std::atomic<uint64_t> sum = 0;
  std::atomic<bool> is_exact = true;
  split(threads, d.size(), fewest_of_urgent(d.size()), [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end && is_exact; at += kFitnessBlock) {
      const auto squares = squares_of_block(d.data() + at, std::min(kFitnessBlock, end - at));
      if (!squares || *squares > kExact || sum.fetch_add(*squares) + *squares > kExact) is_exact = false;
    }
  });
  return is_exact ? std::optional<uint64_t>(sum) : std::nullopt;
}

// set_rounded() of these differences, one by one.
void round_each(std::span<const int64_t> d, const Rounding& rounding, int8_t* fitness) {
  const auto [rms, scale, divisor, most] = rounding;
  for (const int64_t difference : d) {
    const double quotient = static_cast<double>(difference) / rms * scale / divisor;
    const auto cut_off = static_cast<int32_t>(quotient);
    const double rest = quotient - cut_off;  // exact
    *fitness++ = static_cast<int8_t>(std::clamp(cut_off + static_cast<int32_t>(2 * rest), -most, most));
  }
}

// Rounds kQuickBlock differences at once as set_rounded() does, with products in single precision, so that the compiler
// can vectorize the loop. Returns false if a difference does not fit 32 bits or single precision cannot decide a
// rounding; then double does. factor: scale / rms / divisor, as a float.
//
// The factor, the difference as a float, their product, and its sum with a half are each off by a part in 2^24 at most.
// A sum is at most 127.5, so it is off by less than 2^-15; a quotient in double precision is off by far less. So both
// have the same whole part if the sum is further than kFar from a whole number.
EGGROLL_WIDE bool round_quickly(const int64_t* d, float factor, float most, int8_t* fitness) {
  constexpr float kFar = 0x1p-14F;
  std::array<int32_t, kQuickBlock> whole;
  uint64_t high = 0;  // stays 0 while the numbers fit 32 bits
  for (size_t k = 0; k < kQuickBlock; ++k) {
    high |= (static_cast<uint64_t>(d[k]) + (uint64_t{1} << 31)) >> 32;
    whole[k] = static_cast<int32_t>(d[k]);
  }
  int32_t near = 0;
  for (size_t k = 0; k < kQuickBlock; ++k) {
    const float product = static_cast<float>(whole[k]) * factor;
    const float sum = std::min(std::abs(product), most) + 0.5F;
    const auto cut_off = static_cast<int32_t>(sum);
    const float rest = sum - static_cast<float>(cut_off);  // exact
    near |= static_cast<int32_t>(rest < kFar) | static_cast<int32_t>(rest > 1.0F - kFar);
    whole[k] = product < 0.0F ? -cut_off : cut_off;
  }
  for (size_t k = 0; k < kQuickBlock; ++k) fitness[k] = static_cast<int8_t>(whole[k]);
  return high == 0 && near == 0;
}

}  // namespace

std::vector<std::string> fitness_form_names() { return names_of(kForms); }

double root_mean_square(std::span<const int64_t> d, Threads* threads) {
  const std::optional<uint64_t> exact = sum_of_squares(d, threads);
  double sum = 0.0;
  if (exact) {
    sum = static_cast<double>(*exact);
  } else {
    for (const int64_t x : d) sum += static_cast<double>(x) * static_cast<double>(x);
  }
  return std::sqrt(sum / static_cast<double>(d.size()));
}

void set_rounded(std::span<const int64_t> d, std::span<int8_t> fitness, const Rounding& rounding, Threads* threads) {
  if (rounding.rms == 0.0) return std::fill(fitness.begin(), fitness.end(), int8_t{0});
  const auto factor = static_cast<float>(rounding.scale / rounding.rms / rounding.divisor);
  const auto most = static_cast<float>(rounding.most);
  split(threads, d.size(), fewest_of_urgent(d.size()), [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end; at += kQuickBlock) {
      const size_t count = std::min(kQuickBlock, end - at);
      if (count == kQuickBlock && round_quickly(d.data() + at, factor, most, fitness.data() + at)) continue;
      round_each(d.subspan(at, count), rounding, fitness.data() + at);
    }
  });
}

Fitness::Fitness(Settings& settings, std::vector<uint32_t> group_pairs)
    : form_(kForms[settings.choice("name", fitness_form_names())].function(settings)),
      group_pairs_(std::move(group_pairs)) {
  settings.finish();
}

std::vector<int8_t> Fitness::of(const std::vector<int64_t>& losses) const {
  std::vector<int8_t> fitness;
  of_differences(differences(losses), fitness);
  return fitness;
}

uint64_t Fitness::packed_bytes(uint32_t pairs) const {
  return form_.is_sign ? packed_trits(pairs) : uint64_t{pairs} * sizeof(int64_t);
}

void Fitness::pack(std::span<const int64_t> d, std::vector<uint8_t>& bytes) const {
  if (form_.is_sign) {
    std::vector<int8_t> signs(d.size());
    form_.values(d, signs, nullptr);
    return pack_trits(signs, bytes);
  }
  const size_t begin = bytes.size();
  bytes.resize(begin + d.size_bytes());
  std::memcpy(bytes.data() + begin, d.data(), d.size_bytes());
}

void Fitness::of_packed(const std::vector<std::span<const uint8_t>>& parts, const std::vector<uint32_t>& pairs,
                        std::vector<int8_t>& fitness, Threads* threads) const {
  const size_t all = std::accumulate(pairs.begin(), pairs.end(), size_t{0});
  fitness.resize(all);
  std::vector<int64_t> d(form_.is_sign ? 0 : all);
  size_t begin = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (form_.is_sign) {
      unpack_trits(parts[i], std::span(fitness).subspan(begin, pairs[i]));
    } else {
      std::memcpy(d.data() + begin, parts[i].data(), pairs[i] * sizeof(int64_t));
    }
    begin += pairs[i];
  }
  if (!form_.is_sign) of_differences(d, fitness, threads);
}

void Fitness::of_differences(std::span<const int64_t> d, std::vector<int8_t>& fitness, Threads* threads) const {
  fitness.resize(d.size());
  const std::span<int8_t> all(fitness);
  // A sign needs no group to be compared with.
  if (form_.is_sign || group_pairs_.empty()) return form_.values(d, all, threads);
  size_t begin = 0;
  for (const uint32_t pairs : group_pairs_) {
    form_.values(d.subspan(begin, pairs), all.subspan(begin, pairs), threads);
    begin += pairs;
  }
}

uint64_t pairs_without(std::span<const int8_t> fitness) {
  constexpr size_t kBlock = size_t{1} << 16;  // a sum of as many fits an int32, so compilers vectorize the loop
  uint64_t count = 0;
  for (size_t first = 0; first < fitness.size(); first += kBlock) {
    int32_t zeros = 0;
    for (const int8_t f : fitness.subspan(first, std::min(kBlock, fitness.size() - first))) zeros += f == 0 ? 1 : 0;
    count += static_cast<uint64_t>(zeros);
  }
  return count;
}

std::vector<int64_t> differences(std::span<const int64_t> losses) {
  std::vector<int64_t> d(losses.size() / 2);
  for (size_t k = 0; k < d.size(); ++k) d[k] = losses[2 * k + 1] - losses[2 * k];
  return d;
}

std::vector<float> vote_stds(const std::vector<int8_t>& fitness, std::span<const egg_param> params,
                             const egg_noise& noise, std::span<const egg_voters> voters) {
  const egg_voters all{0, static_cast<uint32_t>(fitness.size()), 0};
  // There are few groups, so each range is added up once.
  std::map<std::pair<uint32_t, uint32_t>, int64_t> known;
  const auto known_squares_of = [&](const egg_voters& range) {
    const auto [found, is_new] = known.try_emplace({range.first_pair, range.pairs}, 0);
    if (is_new) found->second = squares_of(range, fitness.data());
    return found->second;
  };
  const double moment = noise_second_moment(noise.distribution);
  std::vector<float> stds;
  for (size_t i = 0; i < params.size(); ++i) {
    const egg_param& param = params[i];
    const int64_t squares = known_squares_of(voters.empty() ? all : voters[i]);
    const int64_t sum = param.kind == EGG_PARAM_MATRIX ? squares * noise.rank : squares;
    const double std = std::sqrt(static_cast<double>(sum)) * moment;
    stds.push_back(param.perturbed != 0 ? static_cast<float>(std) : 0.0F);
  }
  return stds;
}

}  // namespace eggroll
