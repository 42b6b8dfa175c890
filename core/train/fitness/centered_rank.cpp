// The signed rank of a pair's difference among all magnitudes; the largest becomes +-127.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "train/fitness_forms.h"

namespace eggroll {
namespace {

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

FitnessForm fitness_forms::centered_rank(Settings&) {
  FitnessForm form;
  form.values = [](std::span<const int64_t> d, std::span<int8_t> fitness, Threads*) { put_signed_ranks(d, fitness); };
  return form;
}

}  // namespace eggroll
