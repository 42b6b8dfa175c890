// noise.h and initial_weights against known_answers.json, which known_answers.py wrote.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eggroll/noise.h"
#include "eggroll/noise_source.h"
#include "program/initial_weights.h"

namespace eggroll {
namespace {

using nlohmann::json;

const json& answers() {
  static const json kAnswers = [] {
    std::ifstream file(EGGROLL_SOURCE_DIR "/tests/noise/known_answers.json");
    return json::parse(file);
  }();
  return kAnswers;
}

const std::map<std::string, int32_t> kDistributions = {
    {"gaussian", EGG_NOISE_GAUSSIAN}, {"uniform", EGG_NOISE_UNIFORM}, {"rademacher", EGG_NOISE_RADEMACHER}};

uint64_t u64(const json& value) { return value.get<uint64_t>(); }
uint32_t u32(const json& value) { return value.get<uint32_t>(); }

std::vector<uint32_t> indices_of(const char* section) {
  const auto indices = answers().at(section).at(0).get<std::vector<uint32_t>>();
  EXPECT_GE(indices.size(), 7u);
  return indices;
}

// Each row ends with the answers to what stands before it, one for each index.
void expect_answers(const char* section, size_t fewest, const char* indices,
                    const std::function<uint32_t(const json& row, uint32_t index)>& answer_to) {
  const json& rows = answers().at(section);
  ASSERT_GE(rows.size(), fewest);
  const std::vector<uint32_t> all = indices_of(indices);
  for (const json& row : rows) {
    ASSERT_EQ(row.back().size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(answer_to(row, all[i]), u32(row.back()[i])) << row << all[i];
  }
}

TEST(KnownAnswers, Keys) {
  const json& rows = answers().at("noise_keys");
  ASSERT_GE(rows.size(), 20u);
  for (const json& row : rows) {
    EXPECT_EQ(egg_noise_key(u64(row[0]), u64(row[1]), u32(row[2]), u32(row[3]), u32(row[4]), u32(row[5])), u64(row[6]))
        << row;
  }
}

TEST(KnownAnswers, Words) {
  expect_answers("words", 10, "word_indices",
                 [](const json& row, uint32_t index) { return egg_noise_word(u64(row[0]), index); });
}

TEST(KnownAnswers, Bytes) {
  expect_answers("bytes", 4, "indices",
                 [](const json& row, uint32_t index) { return egg_noise_byte(u64(row[0]), index); });
}

TEST(KnownAnswers, Distributions) {
  ASSERT_EQ(answers().at("distributions").size(), kDistributions.size());
  for (const json& row : answers().at("distributions")) {
    const NoiseTable table = noise_table(kDistributions.at(row[0].get<std::string>()));
    ASSERT_EQ(row.size(), 1 + table.size());
    for (size_t byte = 0; byte < table.size(); ++byte) EXPECT_EQ(table[byte], row[byte + 1]) << row[0] << byte;
  }
}

TEST(KnownAnswers, SecondMoments) {
  ASSERT_EQ(answers().at("second_moments").size(), kDistributions.size());
  for (const json& row : answers().at("second_moments")) {
    const int32_t distribution = kDistributions.at(row[0].get<std::string>());
    EXPECT_EQ(noise_second_moment(distribution), row[1]) << row;
    EXPECT_EQ(noise_max(distribution), row[2]) << row;
    EXPECT_LE(noise_max(distribution), EGG_NOISE_MAX) << row;
  }
}

TEST(KnownAnswers, TableIndices) {
  expect_answers("table_indices", 40, "indices", [](const json& row, uint32_t index) {
    return egg_noise_table_index(u64(row[0]), u32(row[1]), index, row[2].get<int32_t>());
  });
}

// Both ways of asking for values.
TEST(KnownAnswers, Values) {
  const std::vector<uint32_t> indices = indices_of("indices");
  const json& rows = answers().at("values");
  ASSERT_GE(rows.size(), 180u);
  constexpr uint32_t kFilled = 65538;
  std::vector<int8_t> filled(kFilled);
  for (const json& row : rows) {
    egg_noise noise{};
    noise.source = row[0] == "table" ? EGG_NOISE_TABLE : EGG_NOISE_COUNTER;
    noise.distribution = kDistributions.at(row[1].get<std::string>());
    noise.table_log2 = row[2].get<int32_t>();
    noise.seed = u64(row[3]);
    const NoiseSource source(noise);
    const uint64_t step = u64(row[4]);
    const uint32_t pair = u32(row[5]), tensor = u32(row[6]), side = u32(row[7]), rank = u32(row[8]);
    source.fill(step, pair, tensor, side, rank, filled.data(), kFilled);
    ASSERT_EQ(row[9].size(), indices.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      EXPECT_EQ(source.value(step, pair, tensor, side, rank, indices[i]), row[9][i]) << row << indices[i];
      if (indices[i] < kFilled) {
        EXPECT_EQ(filled[indices[i]], row[9][i]) << row << indices[i];
      }
    }
  }
}

TEST(KnownAnswers, InitialWeights) {
  const json& rows = answers().at("initial_weights");
  ASSERT_GE(rows.size(), 9u);
  for (const json& row : rows) {
    const egg_param param{"p",
                          EGG_PARAM_MATRIX,
                          row[4].get<int32_t>(),
                          row[5].get<int32_t>(),
                          row[0] == "normal" ? EGG_INIT_NORMAL : EGG_INIT_CONSTANT,
                          row[1].get<int32_t>(),
                          1};
    EXPECT_EQ(initial_weights(param, u32(row[2]), u64(row[3])), row[6].get<std::vector<int8_t>>()) << row;
  }
}

}  // namespace
}  // namespace eggroll
