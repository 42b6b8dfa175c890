// The baseline of counted n-grams against a slow count of the same model that is written another way.
#include "data/kneser_ney.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "eggroll/noise.h"

namespace eggroll::tests {
namespace {

using Counts = std::map<std::string, std::map<char, uint64_t>>;  // by context, then by the byte after it

// Counts of one order as the definition has them: as often as the byte follows the context, or in how many different
// contexts that are one byte longer.
Counts counted(const std::string& text, size_t order, bool are_endings) {
  const std::string padded = std::string(kLongestContext + 1, '\0') + text;
  Counts counts;
  std::set<std::string> seen;
  for (size_t i = kLongestContext + 1; i < padded.size(); ++i) {
    const std::string longer = padded.substr(i - order - 1, order + 2);
    if (are_endings && !seen.insert(longer).second) continue;
    ++counts[padded.substr(i - order, order)][padded[i]];
  }
  return counts;
}

struct Order {
  Counts counts;
  std::array<double, 4> discounts{};  // by count, up to 3

  explicit Order(Counts all) : counts(std::move(all)) {
    std::map<uint64_t, double> numbers;
    for (const auto& [context, after] : counts) {
      for (const auto& [symbol, count] : after) ++numbers[count];
    }
    const double y = numbers[1] / (numbers[1] + 2 * numbers[2]);
    for (uint64_t kind = 1; kind <= 3; ++kind) {
      const auto whole = static_cast<double>(kind);
      const bool is_known = numbers[1] > 0 && numbers[kind] > 0;
      const double d = is_known ? whole - (whole + 1) * y * numbers[kind + 1] / numbers[kind] : 0.0;
      discounts[kind] = d > 0 && d < whole ? d : 0.75;
    }
  }
  double discount(uint64_t count) const { return discounts[std::min<uint64_t>(count, 3)]; }
};

// The probability of the byte after the context. The last bytes of the context count: one fewer than there are orders.
double probability(const std::vector<const Order*>& orders, const std::string& context, char symbol) {
  double result = 1.0 / 256;
  for (size_t bytes = 0; bytes < orders.size(); ++bytes) {
    const Order& order = *orders[bytes];
    const auto found = order.counts.find(context.substr(context.size() - bytes));
    if (found == order.counts.end()) return result;
    double total = 0;
    double left = 0;
    for (const auto& [other, count] : found->second) {
      total += static_cast<double>(count);
      left += order.discount(count);
    }
    const auto own = found->second.find(symbol);
    const double kept =
        own == found->second.end() ? 0.0 : static_cast<double>(own->second) - order.discount(own->second);
    result = (kept + left * result) / total;
  }
  return result;
}

double slow_bits(const std::string& train, const std::string& held_out, size_t bytes) {
  std::vector<Order> all;
  for (size_t k = 0; k <= bytes; ++k) all.emplace_back(counted(train, k, k < bytes));
  std::vector<const Order*> orders;
  for (const Order& order : all) orders.push_back(&order);
  const std::string padded = std::string(kLongestContext, '\0') + held_out;
  double bits = 0;
  for (size_t i = kLongestContext; i < padded.size(); ++i) {
    bits -= std::log2(probability(orders, padded.substr(i - kLongestContext, kLongestContext), padded[i]));
  }
  return bits / static_cast<double>(held_out.size());
}

std::array<double, kLongestContext> fast_bits(const std::string& train, const std::string& held_out) {
  const std::atomic<bool> stop{false};
  return *kneser_ney_bits(std::as_bytes(std::span(train)), std::as_bytes(std::span(held_out)), stop);
}

void expect_equal(const std::string& train, const std::string& held_out) {
  const std::array<double, kLongestContext> fast = fast_bits(train, held_out);
  for (size_t order = 1; order <= kLongestContext; ++order) {
    EXPECT_NEAR(fast[order - 1], slow_bits(train, held_out, order), 1e-9) << order << " bytes";
  }
}

// Bytes below `kinds`, most of which repeat what came before.
std::string made_up(uint64_t seed, size_t size, uint32_t kinds) {
  const uint64_t key = egg_mix64(seed);
  std::string text;
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t draw = egg_noise_word(key, i);
    const size_t back = 5 + draw % 11;
    text += draw % 4 != 0 && i > back ? text[i - back] : static_cast<char>(draw / 16 % kinds);
  }
  return text;
}

TEST(KneserNey, IsThatOfASlowCount) {
  expect_equal(made_up(1, 3000, 4), made_up(2, 300, 4));
  expect_equal(made_up(3, 2000, 256), made_up(4, 200, 256));
}

TEST(KneserNey, IsThatOfASlowCountWhereTheHeldOutTextIsNew) {
  expect_equal("the cat sat on the mat and the cat ate the rat", "a dog, the cats and 1 hat");
  expect_equal("aaaaaaaaaaaaaaaa", "ab");
  expect_equal("a", std::string("\xff\0", 2));
}

TEST(KneserNey, SharesOutAllOfTheProbability) {
  // The bits of the last byte alone: all 256 bytes after the same text.
  const std::string train = made_up(5, 2000, 6);
  const std::string held_out = made_up(5, 40, 6);
  const std::array<double, kLongestContext> before = fast_bits(train, held_out);
  std::array<double, kLongestContext> sums{};
  for (int symbol = 0; symbol < 256; ++symbol) {
    const std::array<double, kLongestContext> with = fast_bits(train, held_out + static_cast<char>(symbol));
    for (size_t k = 0; k < kLongestContext; ++k) sums[k] += std::exp2(40 * before[k] - 41 * with[k]);
  }
  for (const double sum : sums) EXPECT_NEAR(sum, 1.0, 1e-9);
}

TEST(KneserNey, EndsWhenItIsStopped) {
  const std::atomic<bool> stop{true};
  const std::string text = "abc";
  EXPECT_EQ(kneser_ney_bits(std::as_bytes(std::span(text)), std::as_bytes(std::span(text)), stop), std::nullopt);
}

}  // namespace
}  // namespace eggroll::tests
