#include "train/fitness.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>

#include "eggroll/noise.h"
#include "eggroll/threads.h"
#include "ranks/packing.h"

namespace eggroll {
namespace {

constexpr double kFullScale = 127.0;
constexpr double kClippedScale = 64.0;

int8_t quantised(double x) { return static_cast<int8_t>(std::round(std::clamp(x, -kFullScale, kFullScale))); }

// body(begin, end) over disjoint pieces of [0, count).
template <class Body>
void split(Threads* threads, size_t count, const Body& body) {
  if (threads != nullptr) {
    threads->split(count, body);
  } else {
    body(0, count);
  }
}

void put_signs(std::span<const int64_t> d, std::span<int8_t> fitness) {
  std::transform(d.begin(), d.end(), fitness.begin(), [](int64_t x) {
    return static_cast<int8_t>(x > 0 ? 1 : x < 0 ? -1 : 0);
  });
}

// In pair order, so that every machine rounds alike.
double root_mean_square(std::span<const int64_t> d) {
  double sum = 0.0;
  for (const int64_t x : d) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum / static_cast<double>(d.size()));
}

// sign(d) times the rank of |d| in (0, N], ties sharing their mean rank, scaled so that N is 127.
void put_signed_ranks(std::span<const int64_t> d, std::span<int8_t> fitness) {
  std::vector<size_t> order(d.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto magnitude = [&](size_t k) { return std::abs(d[k]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return magnitude(a) < magnitude(b); });
  const auto twice_n = static_cast<int64_t>(2 * d.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && magnitude(order[end]) == magnitude(order[begin])) ++end;
    const auto twice_rank = static_cast<int64_t>(begin + 1 + end);
    const int64_t scaled = (127 * twice_rank + twice_n / 2) / twice_n;
    for (size_t i = begin; i < end; ++i) {
      const int64_t x = d[order[i]];
      fitness[order[i]] = static_cast<int8_t>(x > 0 ? scaled : x < 0 ? -scaled : 0);
    }
    begin = end;
  }
}

}  // namespace

Fitness::Fitness(Settings& settings, std::vector<uint32_t> group_pairs)
    : form_(static_cast<Form>(settings.choice("name", {"sign", "zscore", "centered_rank", "difference"}))),
      group_pairs_(std::move(group_pairs)) {
  if (form_ == kZscore) clip_ = settings.real("clip", 0.1, 100.0);
  if (form_ == kDifference) alpha_ = settings.real("alpha", 0.001, 127.0);
  settings.finish();
}

std::vector<int8_t> Fitness::of(const std::vector<int64_t>& losses) const {
  std::vector<int8_t> fitness;
  of_differences(differences(losses), fitness);
  return fitness;
}

uint64_t Fitness::packed_bytes(uint32_t pairs) const {
  return form_ == kSign ? packed_trits(pairs) : uint64_t{pairs} * sizeof(int64_t);
}

void Fitness::pack(std::span<const int64_t> d, std::vector<uint8_t>& bytes) const {
  if (form_ == kSign) {
    std::vector<int8_t> signs(d.size());
    put_signs(d, signs);
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
  std::vector<int64_t> d(form_ == kSign ? 0 : all);
  size_t begin = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (form_ == kSign) {
      unpack_trits(parts[i], std::span(fitness).subspan(begin, pairs[i]));
    } else {
      std::memcpy(d.data() + begin, parts[i].data(), pairs[i] * sizeof(int64_t));
    }
    begin += pairs[i];
  }
  if (form_ != kSign) of_differences(d, fitness, threads);
}

void Fitness::of_differences(std::span<const int64_t> d, std::vector<int8_t>& fitness, Threads* threads) const {
  fitness.resize(d.size());
  const std::span<int8_t> all(fitness);
  if (form_ == kSign) {
    split(threads, d.size(),
          [&](size_t begin, size_t end) { put_signs(d.subspan(begin, end - begin), all.subspan(begin, end - begin)); });
  } else if (group_pairs_.empty()) {
    of_group(d, all, threads);
  } else {
    size_t begin = 0;
    for (const uint32_t pairs : group_pairs_) {
      of_group(d.subspan(begin, pairs), all.subspan(begin, pairs), threads);
      begin += pairs;
    }
  }
}

void Fitness::of_group(std::span<const int64_t> d, std::span<int8_t> fitness, Threads* threads) const {
  if (form_ == kCenteredRank) return put_signed_ranks(d, fitness);
  const double rms = root_mean_square(d);
  split(threads, d.size(), [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      const double z = rms == 0.0 ? 0.0 : static_cast<double>(d[k]) / rms;
      fitness[k] =
          form_ == kZscore ? quantised(std::clamp(z, -clip_, clip_) * kClippedScale / clip_) : quantised(alpha_ * z);
    }
  });
}

std::vector<int64_t> differences(std::span<const int64_t> losses) {
  std::vector<int64_t> d(losses.size() / 2);
  for (size_t k = 0; k < d.size(); ++k) d[k] = losses[2 * k + 1] - losses[2 * k];
  return d;
}

std::vector<float> vote_stds(const std::vector<int8_t>& fitness, std::span<const egg_param> params,
                             const egg_noise& noise, std::span<const egg_voters> voters) {
  // Groups are few: each range is added up once.
  std::map<std::pair<uint32_t, uint32_t>, int64_t> known;
  const auto squares_of = [&](uint32_t first, uint32_t pairs) {
    const auto [found, is_new] = known.try_emplace({first, pairs}, 0);
    if (is_new) {
      for (uint32_t k = first; k < first + pairs; ++k) found->second += fitness[k] * fitness[k];
    }
    return found->second;
  };
  const double moment = noise_second_moment(noise.distribution);
  std::vector<float> stds;
  for (size_t i = 0; i < params.size(); ++i) {
    const egg_param& param = params[i];
    const int64_t squares = voters.empty() ? squares_of(0, static_cast<uint32_t>(fitness.size()))
                                           : squares_of(voters[i].first_pair, voters[i].pairs);
    const int64_t sum = param.kind == EGG_PARAM_MATRIX ? squares * noise.rank : squares;
    const double std = std::sqrt(static_cast<double>(sum)) * moment;
    stds.push_back(param.perturbed != 0 ? static_cast<float>(std) : 0.0F);
  }
  return stds;
}

}  // namespace eggroll
