#include "data/window_overlap.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "eggroll/noise.h"

namespace eggroll::tests {
namespace {

std::string noise(uint64_t seed, size_t size, uint32_t kinds = 256) {
  const uint64_t key = egg_mix64(seed);
  std::string text;
  for (uint32_t i = 0; i < size; ++i) text += static_cast<char>(egg_noise_word(key, i) % kinds);
  return text;
}

std::optional<double> overlap(const std::string& train, const std::string& held_out, size_t size) {
  const std::atomic<bool> stop{false};
  return window_overlap(std::as_bytes(std::span(train)), std::as_bytes(std::span(held_out)), size, stop);
}

TEST(WindowOverlap, IsAHalfWhereHalfOfTheTextIsCopied) {
  const std::string train = noise(1, 20000);
  const std::string held_out = train.substr(3000, 5000) + noise(2, 5000);
  for (const size_t size : {size_t{32}, size_t{64}, size_t{128}}) {
    // Windows that begin in the copy and end in it, of all.
    EXPECT_EQ(overlap(train, held_out, size),
              static_cast<double>(5000 - size + 1) / static_cast<double>(10000 - size + 1));
  }
}

TEST(WindowOverlap, IsZeroOfANewTextAndOneOfACopy) {
  const std::string train = noise(1, 20000);
  EXPECT_EQ(overlap(train, noise(2, 5000), 32), 0.0);
  EXPECT_EQ(overlap(train, train.substr(7, 500), 32), 1.0);
  EXPECT_EQ(overlap(train, train.substr(20000 - 32), 32), 1.0);
}

TEST(WindowOverlap, CountsEveryWindowOfATextThatRepeatsItself) {
  const std::string train = noise(1, 3000, 2);
  const std::string held_out = noise(2, 3000, 2) + train.substr(10, 9) + train.substr(10, 9);
  std::set<std::string> known;
  for (size_t i = 0; i + 9 <= train.size(); ++i) known.insert(train.substr(i, 9));
  size_t found = 0;
  for (size_t i = 0; i + 9 <= held_out.size(); ++i) found += known.count(held_out.substr(i, 9));
  ASSERT_GT(found, 100);
  EXPECT_EQ(overlap(train, held_out, 9), static_cast<double>(found) / static_cast<double>(held_out.size() - 8));
}

TEST(WindowOverlap, OfATextShorterThanAWindowIsNotKnown) {
  EXPECT_EQ(overlap("abc", "ab", 3), std::nullopt);
  EXPECT_EQ(overlap("ab", "abc", 3), 0.0);
  EXPECT_EQ(overlap("abc", "abc", 3), 1.0);
}

TEST(WindowOverlap, EndsWhenItIsStopped) {
  const std::atomic<bool> stop{true};
  const std::string text = noise(1, 100);
  EXPECT_EQ(window_overlap(std::as_bytes(std::span(text)), std::as_bytes(std::span(text)), 32, stop), std::nullopt);
}

}  // namespace
}  // namespace eggroll::tests
