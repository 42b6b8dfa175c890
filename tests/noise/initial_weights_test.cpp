// Properties of initial_weights that known answers do not show: parameters are independent, and values stay in range.
#include "program/initial_weights.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "eggroll/error.h"

namespace eggroll {
namespace {

egg_param normal(int32_t rows, int32_t cols, int32_t deviation) {
  return egg_param{"layer.weight", EGG_PARAM_MATRIX, rows, cols, EGG_INIT_NORMAL, deviation, 1};
}

TEST(InitialWeights, DependOnSeedAndParameterAndNotOnShape) {
  const std::vector<int8_t> weights = initial_weights(normal(16, 32, 16), 3, 7);
  EXPECT_EQ(weights.size(), 512u);
  EXPECT_EQ(initial_weights(normal(32, 16, 16), 3, 7), weights);
  EXPECT_NE(initial_weights(normal(16, 32, 16), 4, 7), weights);
  EXPECT_NE(initial_weights(normal(16, 32, 16), 3, 8), weights);
}

// With this deviation, noise of magnitude 16 or more, which is three draws in ten, gives 127 or -127.
TEST(InitialWeights, ClipAtBothEnds) {
  const std::vector<int8_t> weights = initial_weights(normal(64, 64, 127), 0, 1);
  EXPECT_EQ(*std::max_element(weights.begin(), weights.end()), 127);
  EXPECT_EQ(*std::min_element(weights.begin(), weights.end()), -127);
}

TEST(InitialWeights, RefuseMoreWeightsThanNoiseHasIndices) {
  for (const int32_t init : {EGG_INIT_NORMAL, EGG_INIT_CONSTANT}) {
    egg_param param = normal(65536, 65536, 4);
    param.init = init;
    try {
      initial_weights(param, 0, 0);
      FAIL() << "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), EGG_ERROR_CONFIG);
      EXPECT_STREQ(e.what(),
                   "parameter 'layer.weight' has 4294967296 weights, expected fewer than 4294967296; make it smaller");
    }
  }
}

}  // namespace
}  // namespace eggroll
