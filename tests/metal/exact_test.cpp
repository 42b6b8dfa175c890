// Sums of int8 products by way of half and float32 are exact: every pair of operands, and sums at the edge of what a
// float32 holds.
#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "eggroll/error.h"
#include "eggroll/noise.h"
#include "plan.h"
#include "products.h"
#include "small_program.h"

namespace eggroll::metal {
namespace {

std::vector<int32_t> whole_products(const std::vector<int8_t>& x, const std::vector<int8_t>& w, uint32_t inputs) {
  std::vector<int32_t> sums(size_t{kTileRows} * kBlock);
  for (size_t row = 0; row < kTileRows; ++row) {
    for (size_t output = 0; output < kBlock; ++output) {
      for (size_t k = 0; k < inputs; ++k) sums[row * kBlock + output] += x[row * inputs + k] * w[output * inputs + k];
    }
  }
  return sums;
}

TEST(Exact, EveryPairOfOperands) {
  for (int32_t first_x = -127; first_x <= 127; first_x += static_cast<int32_t>(kTileRows)) {
    for (int32_t first_w = -127; first_w <= 127; first_w += static_cast<int32_t>(kBlock)) {
      std::vector<int8_t> x(size_t{kTileRows} * kBlock);
      std::vector<int8_t> w(size_t{kBlock} * kBlock);
      for (int32_t i = 0; i < static_cast<int32_t>(kTileRows); ++i) {
        x[static_cast<size_t>(i) * kBlock + 5] = static_cast<int8_t>(std::min(first_x + i, 127));
      }
      for (int32_t i = 0; i < static_cast<int32_t>(kBlock); ++i) {
        w[static_cast<size_t>(i) * kBlock + 5] = static_cast<int8_t>(std::min(first_w + i, 127));
      }
      EXPECT_EQ(shim_products(x, w, kBlock, kBlockInputs), whole_products(x, w, kBlock)) << first_x << " " << first_w;
    }
  }
}

// The largest sums, sums slightly below them, sums that come back from the edge, and every sign.
void fill_adversarial(uint32_t inputs, std::vector<int8_t>& x, std::vector<int8_t>& w) {
  x.assign(size_t{kTileRows} * inputs, 127);
  w.assign(size_t{kBlock} * inputs, 127);
  const uint64_t key = egg_noise_key(inputs, EGG_STEP_DATA, 0, 0, 0, 0);
  uint32_t count = 0;
  const auto below = [&](uint32_t limit) { return egg_noise_word(key, count++) % limit; };
  for (size_t row = 0; row < kTileRows; ++row) {
    int8_t* own = x.data() + row * inputs;
    for (size_t k = 0; k < inputs; ++k) {
      if (row % 4 == 1) own[k] = -127;
      if (row % 4 == 2 && k >= inputs / 2) own[k] = -127;
      if (row % 4 == 3) own[k] = static_cast<int8_t>(static_cast<int32_t>(below(255)) - 127);
    }
    own[below(inputs)] = static_cast<int8_t>(127 - static_cast<int8_t>(row));
  }
  for (size_t output = 0; output < kBlock; ++output) {
    for (size_t i = 0; i < output % 8; ++i) {
      w[output * inputs + below(inputs)] = static_cast<int8_t>(below(2) == 0 ? 126 : -126);
    }
  }
}

TEST(Exact, SumsAtTheEdge) {
  std::vector<int8_t> x;
  std::vector<int8_t> w;
  for (const uint32_t inputs : {960U, 1024U, 1088U, 2048U, 8256U}) {
    fill_adversarial(inputs, x, w);
    const std::vector<int32_t> expected = whole_products(x, w, inputs);
    EXPECT_EQ(shim_products(x, w, inputs, kBlockInputs), expected) << inputs;
    EXPECT_GT(*std::max_element(expected.begin(), expected.end()), static_cast<int32_t>(inputs - 20) * 127 * 127);
  }
}

// Larger blocks would not be exact, so they are refused.
TEST(Exact, LongerSumsAreRefused) {
  std::vector<int8_t> x;
  std::vector<int8_t> w;
  fill_adversarial(2048, x, w);
  EXPECT_NE(shim_products(x, w, 2048, 2048), whole_products(x, w, 2048));

  TableOfLogits table;
  const egg_session_spec spec = table.spec(2);
  EXPECT_NO_THROW(Plan(spec, 1024));
  for (const uint32_t block_inputs : {0U, 100U, 1040U, 1088U, 2048U}) {
    try {
      const Plan refused(spec, block_inputs);
      FAIL() << block_inputs;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("expected a multiple of 64 up to 1040, which stay below 2^24"));
    }
  }
  EXPECT_LT(kMostBlockInputs * 127 * 127, kExactSum);
  EXPECT_GE((kMostBlockInputs + 1) * 127 * 127, kExactSum);
}

}  // namespace
}  // namespace eggroll::metal
