// Places in a backend's working memory: the lowest that is free, found without looking at what is long gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "eggroll/lowered_program.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

// Counts how often two requests are compared. Of two that have the same stamp, the second may lie where the first does.
struct CountedRequest : Request {
  uint32_t stamp = 0;

  size_t beside(size_t at, const CountedRequest& taken, size_t offset) const {
    ++compared;
    if (stamp == taken.stamp && at == offset && bytes == taken.bytes) return at;
    return Request::beside(at, taken, offset);
  }
  inline static uint64_t compared = 0;
};

// Tries all offsets.
class Slow {
 public:
  size_t take(const CountedRequest& request) {
    for (size_t at = 0;; ++at) {
      const bool fits = std::all_of(taken_.begin(), taken_.end(), [&](const auto& taken) {
        return request.beside(at, taken.second, taken.first) == at;
      });
      if (!fits) continue;
      taken_.emplace_back(at, request);
      return at;
    }
  }

 private:
  std::vector<std::pair<size_t, CountedRequest>> taken_;
};

TEST(FirstFit, GivesTheLowestOffsetThatIsFree) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    Draws draws(seed);
    FirstFit<CountedRequest> fit;
    Slow slow;
    const bool in_order = draws.below(2) == 0;
    for (uint32_t i = 0; i < 60; ++i) {
      CountedRequest request;
      request.bytes = 1 + draws.below(6);
      request.stamp = draws.below(3) == 0 ? 0 : i + 1;
      request.stay.begin = static_cast<int32_t>(in_order ? i : draws.below(60));
      request.stay.end =
          request.stay.begin + static_cast<int32_t>(draws.below(5) == 0 ? draws.below(60) : draws.below(3));
      ASSERT_EQ(fit.take(request), slow.take(request)) << "seed " << seed << ", request " << i;
    }
  }
}

// The values of a long chain of ops, with one that is needed to the end.
TEST(FirstFit, ComparesWithWhatIsThereAtTheSameTimeAlone) {
  constexpr int32_t kOps = 20000;
  FirstFit<CountedRequest> fit;
  CountedRequest::compared = 0;
  const auto take = [&](int32_t begin, int32_t end) {
    CountedRequest request;
    request.bytes = 16;
    request.stay = {begin, end};
    request.stamp = static_cast<uint32_t>(begin) + 1;
    return fit.take(request);
  };
  take(0, kOps);
  for (int32_t i = 0; i < kOps; ++i) take(i, i + 1);
  EXPECT_EQ(fit.size(), 48U);
  EXPECT_LT(CountedRequest::compared, uint64_t{50} * kOps);
}

}  // namespace
}  // namespace eggroll::test
