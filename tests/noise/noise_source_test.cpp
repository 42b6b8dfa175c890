// NoiseSource: one value and many values agree, wherever the table wraps; bad settings are refused.
#include "eggroll/noise_source.h"

#include <gtest/gtest.h>

#include <vector>

namespace eggroll {
namespace {

egg_noise settings(int32_t source, int32_t table_log2) {
  egg_noise noise{};
  noise.seed = 11;
  noise.source = source;
  noise.table_log2 = table_log2;
  return noise;
}

std::string refusal(const egg_noise& noise) {
  try {
    const NoiseSource source(noise);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), EGG_ERROR_CONFIG);
    return e.key() + ": " + e.what();
  }
  return "accepted";
}

// A table of 4096 wraps after 2048 values, so 5000 values wrap twice or three times.
TEST(NoiseSource, FillAndValueAgreeAndFillWritesNothingMore) {
  for (const egg_noise& noise : {settings(EGG_NOISE_COUNTER, 0), settings(EGG_NOISE_TABLE, 12)}) {
    const NoiseSource source(noise);
    for (const uint32_t count : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 64u, 2047u, 2048u, 2049u, 5000u}) {
      for (uint32_t pair = 0; pair < 5; ++pair) {
        for (const uint32_t side : {EGG_SIDE_A, EGG_SIDE_B}) {
          std::vector<int8_t> filled(count + 1, 99);
          source.fill(3, pair, 2, side, 1, filled.data(), count);
          for (uint32_t i = 0; i < count; ++i) {
            ASSERT_EQ(filled[i], source.value(3, pair, 2, side, 1, i)) << noise.source << " " << count << " " << i;
          }
          EXPECT_EQ(filled[count], 99);
        }
      }
    }
  }
}

// The table holds the counter noise under the table's own key; a draw's key only says where to begin in it.
TEST(NoiseSource, TableHoldsTheCounterNoiseOfItsOwnStep) {
  const NoiseSource counter(settings(EGG_NOISE_COUNTER, 0));
  const NoiseSource table(settings(EGG_NOISE_TABLE, 13));
  for (const uint32_t side : {EGG_SIDE_A, EGG_SIDE_B}) {
    const uint64_t key = egg_noise_key(11, 5, 6, 7, side, 8);
    for (uint32_t i = 0; i < 9000; ++i) {
      ASSERT_EQ(table.value(5, 6, 7, side, 8, i),
                counter.value(EGG_STEP_TABLE, 0, 0, EGG_SIDE_A, 0, egg_noise_table_index(key, side, i, 13)));
    }
  }
}

TEST(NoiseSource, RefusesWhatTheSpecificationDoesNotDefine) {
  egg_noise noise = settings(EGG_NOISE_COUNTER, 0);
  EXPECT_EQ(refusal(noise), "accepted");
  noise.source = 2;
  EXPECT_EQ(refusal(noise),
            "source: the noise's source is 2, expected 0 (counter) or 1 (table); build host and plugin from the same "
            "headers");
  noise = settings(EGG_NOISE_COUNTER, 0);
  for (const int32_t distribution : {-1, 3}) {
    noise.distribution = distribution;
    EXPECT_EQ(refusal(noise), "distribution: the noise's distribution is " + std::to_string(distribution) +
                                  ", expected 0 (gaussian), 1 (uniform) or 2 (rademacher); build host and plugin from "
                                  "the same headers");
  }
  for (const int32_t log2 : {11, 31}) {
    EXPECT_EQ(refusal(settings(EGG_NOISE_TABLE, log2)),
              "table_log2: the noise's table_log2 is " + std::to_string(log2) +
                  ", expected 12 to 30; build host and plugin from the same headers");
  }
}

}  // namespace
}  // namespace eggroll
