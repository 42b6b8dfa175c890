// Draws at the logits: sums of exponentials give what a loop over members gives, and a complete set gives the gradient.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "eggroll/logit_draws.h"
#include "eggroll/program_builder.h"

namespace eggroll::test {
namespace {

constexpr int32_t kUnit = 8192;

struct Logits {
  explicit Logits(int32_t vocab) : builder(vocab, 4, EGG_ROUND_NEAREST) {
    builder.loss(builder.embed("logits", builder.matrix("w", vocab, vocab, 16)), kUnit);
  }
  ProgramBuilder builder;
};

// As draws.h says, member by member.
template <class KeyOf>
std::vector<int16_t> by_loop(const std::vector<int8_t>& logits, uint32_t target, const KeyOf& key_of,
                             const egg_site& site) {
  egg_loss_tables tables;
  egg_fill_loss_tables(&tables, kUnit);
  const auto size = static_cast<uint32_t>(logits.size());
  const int32_t log2_n = egg_log2_up(size);
  int32_t top = -127;
  for (const int8_t logit : logits) top = std::max<int32_t>(top, egg_clip8(logit + site.amplitude));
  std::vector<int32_t> sums(size);
  for (uint32_t k = 0; k < site.draws; ++k) {
    const bool is_orthogonal = site.design == EGG_DRAWS_ORTHOGONAL;
    const uint64_t key = key_of(is_orthogonal ? 0 : k + 1);
    const uint32_t row = is_orthogonal ? (k + egg_draw_offset(key)) & ((1U << log2_n) - 1) : 0;
    const auto sign = [&](uint32_t i) { return (egg_draw_bit(key, i) ^ egg_hadamard_bit(row, i)) != 0 ? -1 : 1; };
    const auto value = [&](uint32_t i, int32_t member) {
      return egg_clip8(logits[i] + member * sign(i) * site.amplitude);
    };
    uint32_t sum[2] = {};
    for (uint32_t i = 0; i < size; ++i) {
      for (const int32_t member : {-1, 1}) {
        sum[member > 0] += egg_draw_exp2(static_cast<uint32_t>(top - value(i, member)), kUnit, log2_n);
      }
    }
    const int32_t d = egg_clip(egg_draw_difference(sum[0], sum[1], value(target, 1) - value(target, -1), kUnit,
                                                   static_cast<const uint32_t*>(tables.log2_q24)),
                               egg_draw_limit(site.draws));
    for (uint32_t i = 0; i < size; ++i) sums[i] += d * sign(i);
  }
  std::vector<int16_t> error;
  for (const int32_t sum : sums) error.push_back(egg_draw_error(sum, site.shift));
  return error;
}

std::vector<int8_t> random_logits(std::mt19937& random, size_t size, int32_t spread) {
  std::vector<int8_t> logits(size);
  for (int8_t& logit : logits) logit = egg_clip8(std::uniform_int_distribution<int32_t>(-spread, spread)(random));
  return logits;
}

void expect_those_of_a_loop(int32_t vocab, int32_t design, uint32_t draws) {
  std::mt19937 random(7);
  Logits model(vocab);
  for (const int32_t amplitude : {1, 2, 16}) {
    const egg_site site{0, design, draws, amplitude, 0, 6, 0, 1};
    LogitDraws fast(*model.builder.view(), site);
    for (const int32_t spread : {3, 60, 300}) {
      const std::vector<int8_t> logits = random_logits(random, static_cast<size_t>(vocab), spread);
      const auto target = static_cast<uint32_t>(random() % static_cast<uint32_t>(vocab));
      const uint64_t seed = random();
      const auto key_of = [&](uint32_t draw) { return egg_draw_key(seed, 3, 5, 0, 7, draw); };
      std::vector<int16_t> error(logits.size());
      fast.error(logits.data(), target, key_of, error.data());
      EXPECT_EQ(error, by_loop(logits, target, key_of, site)) << vocab << " " << draws << " " << amplitude;
    }
  }
}

TEST(LogitDraws, AreThoseOfALoopOverMembers) {
  for (const int32_t vocab : {2, 5, 16, 256, 300}) {
    const uint32_t rows = 1U << egg_log2_up(static_cast<uint32_t>(vocab));
    for (const uint32_t draws : {1U, rows / 2, rows}) expect_those_of_a_loop(vocab, EGG_DRAWS_ORTHOGONAL, draws);
    for (const uint32_t draws : {1U, rows + 3}) expect_those_of_a_loop(vocab, EGG_DRAWS_INDEPENDENT, draws);
  }
}

// So many draws that their differences are clipped.
TEST(LogitDraws, OfTheLargestNumberAreThoseOfALoopOverMembers) {
  expect_those_of_a_loop(5, EGG_DRAWS_INDEPENDENT, EGG_DRAWS_MAX);
}

TEST(LogitDraws, ACompleteSetGivesTheGradient) {
  std::mt19937 random(8);
  Logits model(256);
  LogitDraws draws(*model.builder.view(), {0, EGG_DRAWS_ORTHOGONAL, 256, 2, 0, 9, 0, 1});
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<int8_t> logits = random_logits(random, 256, 60);
    const auto target = static_cast<uint32_t>(random() % 256);
    std::vector<int16_t> error(256);
    const auto key_of = [&](uint32_t draw) { return egg_draw_key(1, 2, 3, 4, static_cast<uint32_t>(trial), draw); };
    draws.error(logits.data(), target, key_of, error.data());
    double total = 0.0;
    for (const int8_t logit : logits) total += std::exp2(logit / 8.0);
    double dot = 0.0;
    double squares = 0.0;
    double gradient_squares = 0.0;
    for (size_t i = 0; i < 256; ++i) {
      const double gradient = (i == target ? 1.0 : 0.0) - std::exp2(logits[i] / 8.0) / total;
      dot += gradient * error[i];
      squares += error[i] * error[i];
      gradient_squares += gradient * gradient;
    }
    EXPECT_GT(dot / std::sqrt(squares * gradient_squares), 0.998);
  }
}

// No row of the matrix is like another, and its transform is its own inverse but for the factor n.
TEST(LogitDraws, TheTransformIsTheMatrix) {
  for (const uint32_t n : {1U, 2U, 16U, 256U}) {
    for (uint32_t column = 0; column < n; ++column) {
      std::vector<int32_t> values(n);
      values[column] = 1;
      hadamard_transform(values.data(), n);
      for (uint32_t row = 0; row < n; ++row) EXPECT_EQ(values[row], egg_hadamard_bit(row, column) != 0 ? -1 : 1);
    }
  }
}

}  // namespace
}  // namespace eggroll::test
