// noise.h and initial_weights against known_answers.json, which known_answers.py wrote.
#include <gtest/gtest.h>

#include <fstream>
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

TEST(KnownAnswers, Keys) {
  const json& rows = answers().at("noise_keys");
  ASSERT_GE(rows.size(), 20u);
  for (const json& row : rows) {
    EXPECT_EQ(egg_noise_key(u64(row[0]), u64(row[1]), u32(row[2]), u32(row[3]), u32(row[4]), u32(row[5])), u64(row[6]))
        << row;
  }
}

TEST(KnownAnswers, Words) {
  const json& rows = answers().at("words");
  ASSERT_GE(rows.size(), 70u);
  for (const json& row : rows) EXPECT_EQ(egg_noise_word(u64(row[0]), u32(row[1])), u32(row[2])) << row;
}

TEST(KnownAnswers, Bytes) {
  const json& rows = answers().at("bytes");
  ASSERT_GE(rows.size(), 70u);
  for (const json& row : rows) EXPECT_EQ(egg_noise_byte(u64(row[0]), u32(row[1])), u32(row[2])) << row;
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
    egg_noise noise{};
    noise.distribution = kDistributions.at(row[0].get<std::string>());
    EXPECT_EQ(NoiseSource(noise).second_moment(), row[1]) << row;
    EXPECT_EQ(NoiseSource(noise).max(), row[2]) << row;
    EXPECT_LE(NoiseSource(noise).max(), EGG_NOISE_MAX) << row;
  }
}

TEST(KnownAnswers, TableIndices) {
  const json& rows = answers().at("table_indices");
  ASSERT_GE(rows.size(), 300u);
  for (const json& row : rows) {
    EXPECT_EQ(egg_noise_table_index(u64(row[0]), u32(row[1]), u32(row[2]), row[3].get<int32_t>()), u32(row[4])) << row;
  }
}

// Both ways of asking for values. Each case has the indices that `bytes` lists for its first key.
TEST(KnownAnswers, Values) {
  std::vector<uint32_t> indices;
  for (const json& row : answers().at("bytes")) {
    if (row[0] == answers().at("bytes")[0][0]) indices.push_back(u32(row[1]));
  }
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
