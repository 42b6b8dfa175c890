// Rotary positions: the constants at every position of a context, their effect on queries and keys, and the refusal of
// positions beyond.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "eggroll/arithmetic.h"
#include "models/one_op.h"
#include "record/scratch.h"

namespace eggroll::test {
namespace {

constexpr uint32_t kContext = 512;
constexpr int32_t kHead = 32;
constexpr double kEntry = 0.501;  // the largest error of a constant in units of 2^-20: its rounding and a little

const Learner& former() {
  static const Learner learner(repository_config({"model=int8nativeformer", "model.context=512", "train.population=4",
                                                  "train.members_per_stream=2"}),
                               built_plugins());
  return learner;
}

const egg_table& rope_table(const Learner& learner) {
  for (const egg_op& op : learner.program->ops()) {
    if (op.code == EGG_OP_ROPE) return learner.program->tables()[static_cast<size_t>(op.table)];
  }
  throw Error("the model has no rope");
}

double angle(double position, int32_t channel) {
  const int32_t even = channel - channel % 2;
  return position * static_cast<double>(std::pow(10000.0L, -static_cast<long double>(even) / kHead));
}

void expect_constants(const egg_table& table, uint32_t position) {
  for (int32_t i = 0; i < kHead; i += 2) {
    const long double at =
        static_cast<long double>(position) * std::pow(10000.0L, -static_cast<long double>(i) / kHead);
    const int32_t* entries = table.entries + position * static_cast<uint32_t>(kHead) + i;
    ASSERT_LE(std::fabs(entries[0] - std::cos(at) * 0x1p20L), static_cast<long double>(kEntry)) << position << " " << i;
    ASSERT_LE(std::fabs(entries[1] - std::sin(at) * 0x1p20L), static_cast<long double>(kEntry)) << position << " " << i;
  }
}

TEST(Rope, ConstantsAreRightAtEveryPosition) {
  const egg_table& table = rope_table(former());
  ASSERT_EQ(table.count, kContext * static_cast<uint32_t>(kHead));
  for (uint32_t position = 0; position < kContext; ++position) expect_constants(table, position);
}

TEST(Rope, ConstantsAreRightAtTheLargestPositionsThereCanBe) {
  const Learner learner(
      repository_config({"model=int8nativeformer", "model.context=65536", "model.attention.softmax.scale=7"}),
      built_plugins());
  for (uint32_t position = 65536 - 64; position < 65536; ++position) expect_constants(rope_table(learner), position);
}

// Rotates a head's channels by a real position.
std::vector<double> turned(const std::vector<double>& x, double position) {
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); i += 2) {
    const double a = angle(position, static_cast<int32_t>(i));
    y[i] = x[i] * std::cos(a) - x[i + 1] * std::sin(a);
    y[i + 1] = x[i] * std::sin(a) + x[i + 1] * std::cos(a);
  }
  return y;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double sum_of_magnitudes(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double v : x) sum += std::abs(v);
  return sum;
}

// For all positions i and j of queries and keys whose channels are each off by at most `error` from a perfect rotation,
// the dot product is that of distance j - i within error * (|q| + |k| + error * channels), norms being sums of
// magnitudes after the perfect rotation.
void expect_distance_alone(const std::vector<double>& query, const std::vector<double>& key,
                           const std::vector<std::vector<double>>& queries,
                           const std::vector<std::vector<double>>& keys, double error) {
  std::vector<double> query_sums;
  std::vector<double> key_sums;
  std::vector<double> ahead;   // the dot product at distance d
  std::vector<double> behind;  // at distance -d
  for (uint32_t position = 0; position < kContext; ++position) {
    query_sums.push_back(sum_of_magnitudes(turned(query, position)));
    key_sums.push_back(sum_of_magnitudes(turned(key, position)));
    ahead.push_back(dot(query, turned(key, position)));
    behind.push_back(dot(turned(query, position), key));
  }
  double largest = 0.0;  // share of the bound
  for (size_t i = 0; i < kContext; ++i) {
    for (size_t j = 0; j < kContext; ++j) {
      const double expected = j >= i ? ahead[j - i] : behind[i - j];
      const double bound = error * (query_sums[i] + key_sums[j] + error * kHead);
      largest = std::max(largest, std::abs(dot(queries[i], keys[j]) - expected) / bound);
    }
  }
  EXPECT_LE(largest, 1.0);
  const auto [low, high] = std::minmax_element(ahead.begin(), ahead.end());
  EXPECT_GT(*high - *low, 10.0 * error * (query_sums[0] + key_sums[0])) << "the bound tells no distances apart";
}

// Rotates one token's vector at the last of the positions that it fills, by the backend.
class OneRope {
 public:
  OneRope() {
    const egg_table& table = rope_table(former());
    ProgramBuilder builder(2, 4, EGG_ROUND_NEAREST, kContext);
    const Value x = builder.embed("x", builder.matrix("embedding", 2, kHead, 0));
    builder.store(
        builder.state("kept", kHead),
        builder.rope("turned", x, builder.table("rope", {table.entries, table.entries + table.count}), kHead));
    one_.emplace(former(), builder, 2);
    Draws draws(5);
    // Magnitudes of at most 89 stay within 127 whatever the angle.
    for (int32_t i = 0; i < 2 * kHead; ++i)
      weights_.push_back(static_cast<int8_t>(static_cast<int32_t>(draws.below(179)) - 89));
    one_->set_weights(0, weights_);
  }

  std::vector<double> vector(uint32_t token) const {
    const auto begin = weights_.begin() + static_cast<ptrdiff_t>(token) * kHead;
    return {begin, begin + kHead};
  }

  std::vector<double> at(uint32_t token, uint32_t position) {
    const std::vector<uint32_t> tokens(position + 1, token);
    const std::vector<int8_t> turned = one_->after(tokens, position + 1, kHead);
    return {turned.begin(), turned.end()};
  }

 private:
  std::optional<OneOp> one_;
  std::vector<int8_t> weights_;
};

TEST(Rope, TurnsByThePositionAndScoresByTheDistance) {
  OneRope one;
  const double error = 0.5 + 2.0 * 89.0 * kEntry * 0x1p-20;  // its rounding, and two constants
  std::vector<std::vector<double>> rotated[2];
  for (uint32_t token = 0; token < 2; ++token) {
    for (uint32_t position = 0; position < kContext; ++position) {
      rotated[token].push_back(one.at(token, position));
      const std::vector<double> exact = turned(one.vector(token), position);
      for (size_t i = 0; i < exact.size(); ++i) {
        ASSERT_LE(std::abs(rotated[token].back()[i] - exact[i]), error) << position << " " << i;
      }
    }
  }
  expect_distance_alone(one.vector(0), one.vector(1), rotated[0], rotated[1], error);
}

// This is the same test for the wide values that a model turns; their roundings are a millionth.
TEST(Rope, OfWideValuesScoresByTheDistance) {
  constexpr int32_t kLargest = 1 << 20;
  const egg_table& table = rope_table(former());
  Draws draws(6);
  std::vector<double> plain[2];
  std::vector<std::vector<double>> rotated[2];
  for (int which = 0; which < 2; ++which) {
    for (int32_t i = 0; i < kHead; ++i)
      plain[which].push_back(static_cast<double>(draws.below(2 * kLargest)) - kLargest);
    for (uint32_t position = 0; position < kContext; ++position) {
      const int32_t* entries = table.entries + position * static_cast<uint32_t>(kHead);
      std::vector<double>& y = rotated[which].emplace_back();
      for (size_t i = 0; i < plain[which].size(); i += 2) {
        const auto a = static_cast<int32_t>(plain[which][i]);
        const auto b = static_cast<int32_t>(plain[which][i + 1]);
        y.push_back(egg_rotate(a, entries[i], b, -entries[i + 1]));
        y.push_back(egg_rotate(a, entries[i + 1], b, entries[i]));
      }
    }
  }
  expect_distance_alone(plain[0], plain[1], rotated[0], rotated[1], 0.5 + 2.0 * kLargest * kEntry * 0x1p-20);
}

TEST(Rope, ACallBeyondTheContextIsRefused) {
  BackendSession session = former().open_session();
  const auto refusal = [&](uint32_t tokens, bool train) {
    const std::vector<uint32_t> inputs(tokens, 1);
    const std::vector<uint8_t> resets(tokens);
    const egg_batch batch{1, tokens, inputs.data(), inputs.data(), resets.data(), nullptr};
    std::vector<int64_t> losses(4);
    return message_of([&] {
      if (train) return session.evaluate(egg_evaluate{sizeof(egg_evaluate), 4, 0, 0, 4, batch, losses.data(), nullptr});
      session.infer(egg_infer{sizeof(egg_infer), 0, batch, nullptr, losses.data(), nullptr});
    });
  };
  for (const bool train : {false, true}) {
    EXPECT_EQ(refusal(kContext, train), "");
    EXPECT_EQ(refusal(kContext + 1, train),
              "a call reads 513 tokens, expected at most 512, the context of the model's program; read fewer");
  }
}

}  // namespace
}  // namespace eggroll::test
