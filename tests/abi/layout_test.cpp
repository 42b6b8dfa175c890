// ABI 0.11 is frozen: sizes, offsets and numbers of eggroll/plugin.h, in C and in C++.
#include "layout.h"

#include <gtest/gtest.h>

#include <string>

#include "eggroll/plugin.h"

namespace {

#define SIZE(type, bytes) {#type, "", bytes},
#define FIELD(type, field, offset) {#type, #field, offset},
constexpr egg_layout_row kFrozen[] = {EGG_LAYOUT(SIZE, FIELD)};
#undef SIZE
#undef FIELD

#define SIZE(type, bytes) {#type, "", sizeof(type)},
#define FIELD(type, field, offset) {#type, #field, offsetof(type, field)},
constexpr egg_layout_row kInCpp[] = {EGG_LAYOUT(SIZE, FIELD)};
#undef SIZE
#undef FIELD

std::string where(const egg_layout_row& row) { return std::string(row.type) + "." + row.field; }

TEST(Layout, IsThatOfAbi011) {
  ASSERT_EQ(EGG_ABI_MAJOR, 0);
  ASSERT_EQ(EGG_ABI_MINOR, 11) << "a new ABI number: freeze its layout in layout.h";
  ASSERT_EQ(layout_in_c_count, std::size(kFrozen));
  for (size_t i = 0; i < std::size(kFrozen); ++i) {
    EXPECT_EQ(kInCpp[i].value, kFrozen[i].value) << where(kFrozen[i]) << ": raise EGG_ABI_MINOR";
    EXPECT_EQ(layout_in_c[i].value, kFrozen[i].value) << where(kFrozen[i]) << " in C";
  }
}

TEST(Layout, NumbersAreThoseOfAbi011) {
  EXPECT_EQ(EGG_MAGIC, 0x47474531U);
  EXPECT_STREQ(EGG_PLUGIN_SYMBOL, "egg_plugin");
  EXPECT_EQ(EGG_NO_TARGET, 0xFFFFFFFFU);
  EXPECT_EQ(EGG_NO_ROW, 0xFFFFFFFFU);
  EXPECT_EQ(EGG_INDEX_TOKENS_MAX, 16);
  EXPECT_EQ(EGG_INDEX_WORDS_MAX, 2);
  const int numbers[] = {EGG_OK,
                         EGG_ERROR_CONFIG,
                         EGG_ERROR_UNSUPPORTED,
                         EGG_ERROR_DEVICE,
                         EGG_ERROR_MEMORY,
                         EGG_ERROR_INTERNAL,
                         EGG_SETTING_INTEGER,
                         EGG_SETTING_REAL,
                         EGG_SETTING_BOOLEAN,
                         EGG_SETTING_TEXT,
                         EGG_SETTING_NULL,
                         EGG_PARAM_MATRIX,
                         EGG_PARAM_VECTOR,
                         EGG_INIT_CONSTANT,
                         EGG_INIT_NORMAL,
                         EGG_ROUND_FLOOR,
                         EGG_ROUND_NEAREST,
                         EGG_DIVIDE_RECIPROCAL,
                         EGG_DIVIDE_TRUNCATE,
                         EGG_DIVIDE_FLOOR,
                         EGG_WEIGHT_SOFTMAX,
                         EGG_WEIGHT_SIGMOID,
                         EGG_NOISE_COUNTER,
                         EGG_NOISE_TABLE,
                         EGG_NOISE_GAUSSIAN,
                         EGG_NOISE_UNIFORM,
                         EGG_NOISE_RADEMACHER,
                         EGG_KIND_BACKEND,
                         EGG_KIND_MODEL,
                         EGG_KIND_OPTIMIZER,
                         EGG_KIND_PROCESSES};
  const int frozen[] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 0, 1, 0, 1, 0, 1, 0, 1, 2, 0, 1, 0, 1, 0, 1, 2, 0, 1, 2, 3};
  ASSERT_EQ(std::size(numbers), std::size(frozen));
  for (size_t i = 0; i < std::size(frozen); ++i) EXPECT_EQ(numbers[i], frozen[i]) << "number " << i;
}

}  // namespace
