// ABI 0.11 is frozen: sizes, offsets and numbers of eggroll/plugin.h, in C and in C++.
#include "layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

void each_row_in_cpp(layout_row* row){EGG_LAYOUT}

TEST(Layout, IsThatOfAbi011) {
  ASSERT_EQ(EGG_ABI_MAJOR, 0);
  ASSERT_EQ(EGG_ABI_MINOR, 11) << "a new ABI number: freeze its layout in layout.h";
  static size_t rows = 0;
  each_row_in_cpp([](const char* type, const char* field, size_t value, size_t frozen) {
    ++rows;
    EXPECT_EQ(value, frozen) << type << "." << field << ": raise EGG_ABI_MINOR";
  });
  EXPECT_EQ(rows, 239U);
  each_row_in_c([](const char* type, const char* field, size_t value, size_t frozen) {
    --rows;
    EXPECT_EQ(value, frozen) << type << "." << field << " in C";
  });
  EXPECT_EQ(rows, 0U) << "C has other rows";
}

TEST(Layout, NumbersAreThoseOfAbi011) {
  EXPECT_EQ(EGG_MAGIC, 0x47474531U);
  EXPECT_STREQ(EGG_PLUGIN_SYMBOL, "egg_plugin");
  EXPECT_EQ(EGG_NO_TARGET, 0xFFFFFFFFU);
  EXPECT_EQ(EGG_NO_ROW, 0xFFFFFFFFU);
  EXPECT_EQ(EGG_INDEX_TOKENS_MAX, 16);
  EXPECT_EQ(EGG_INDEX_WORDS_MAX, 2);
  const std::vector<std::vector<int>> enumerations = {
      {EGG_OK, EGG_ERROR_CONFIG, EGG_ERROR_UNSUPPORTED, EGG_ERROR_DEVICE, EGG_ERROR_MEMORY, EGG_ERROR_INTERNAL},
      {EGG_SETTING_INTEGER, EGG_SETTING_REAL, EGG_SETTING_BOOLEAN, EGG_SETTING_TEXT, EGG_SETTING_NULL},
      {EGG_PARAM_MATRIX, EGG_PARAM_VECTOR},
      {EGG_INIT_CONSTANT, EGG_INIT_NORMAL},
      {EGG_ROUND_FLOOR, EGG_ROUND_NEAREST},
      {EGG_DIVIDE_RECIPROCAL, EGG_DIVIDE_TRUNCATE, EGG_DIVIDE_FLOOR},
      {EGG_WEIGHT_SOFTMAX, EGG_WEIGHT_SIGMOID},
      {EGG_NOISE_COUNTER, EGG_NOISE_TABLE},
      {EGG_NOISE_GAUSSIAN, EGG_NOISE_UNIFORM, EGG_NOISE_RADEMACHER},
      {EGG_KIND_BACKEND, EGG_KIND_MODEL, EGG_KIND_OPTIMIZER, EGG_KIND_PROCESSES}};
  for (size_t kind = 0; kind < enumerations.size(); ++kind) {
    for (size_t i = 0; i < enumerations[kind].size(); ++i) EXPECT_EQ(enumerations[kind][i], i) << kind;
  }
}

}  // namespace
