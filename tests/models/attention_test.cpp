// Compares the models' attention with one in double precision. The allowed error follows from the roundings:
//
//   1. A score is rounded by up to half a step, or down by less than one. Its weight changes by a factor within a range
//   whose
//      ends are 2^(1/steps) =: r apart, and a weighted mean moves by at most (sqrt r - 1) / (sqrt r + 1) of the values'
//      range: the largest total variation between a distribution and another that is it times factors within that
//      range.
//   2. A weight is off by e (tables.h: softmax 1, sigmoid 1/2), so n of them with sum W move the mean by at most
//      n e range / W.
//   3. The quotient is rounded: 1/2, or 1 towards zero.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "models/one_op.h"

namespace eggroll::test {
namespace {

constexpr uint32_t kVocab = 64;

struct Kind {
  const char* name;
  std::vector<std::string> overrides;
  double steps_per_bit;
  double scale;  // log2 of the largest weight
};

// Without this function the listed name of a test would hold addresses.
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

// One attention with the tables of a model; its queries, keys and values are three embeddings of the token.
class OneAttention {
 public:
  explicit OneAttention(const Kind& kind) : learner_(repository_config(kind.overrides), built_plugins()) {
    const Program& model = *learner_.program;
    for (const egg_op& candidate : model.ops()) {
      if (candidate.code == EGG_OP_ATTENTION) op_ = candidate;
    }
    const egg_table& table = model.tables()[static_cast<size_t>(op_.table)];
    const auto width = 2 * op_.head;
    ProgramBuilder builder(kVocab, model.view().fixed_point, model.view().rounding, model.view().context);
    const Value q = builder.embed("q", builder.matrix("q.w", kVocab, width, 0));
    const Value k = builder.embed("k", builder.matrix("k.w", kVocab, width, 0));
    const Value v = builder.embed("v", builder.matrix("v.w", kVocab, width, 0));
    const Table weights = builder.table("weights", {table.entries, table.entries + table.count});
    builder.store(builder.state("kept", width),
                  builder.attention("mixed", q, k, v, weights, op_.head, op_.mode, op_.attr));
    one_.emplace(learner_, builder, kVocab);
    Draws draws(23);
    for (uint32_t i = 0; i < 3; ++i) {
      vectors_[i].resize(size_t{kVocab} * static_cast<size_t>(width));
      for (int8_t& x : vectors_[i]) x = draws.weight();
    }
    // A quarter of the keys are queries too, so that some scores are as large as scores can be.
    for (size_t i = 0; i < vectors_[1].size() / 4; ++i) vectors_[1][i] = vectors_[0][i];
    for (uint32_t i = 0; i < 3; ++i) one_->set_weights(i, vectors_[i]);
  }

  size_t width() const { return 2 * static_cast<size_t>(op_.head); }
  uint32_t context() const { return static_cast<uint32_t>(one_->program().context); }
  bool rounds_to_nearest() const { return one_->program().rounding == EGG_ROUND_NEAREST; }
  bool sigmoid() const { return op_.mode == EGG_WEIGHT_SIGMOID; }

  // The attention of the last one of the tokens [0, count) to all these tokens.
  std::vector<int8_t> mixed(const std::vector<uint32_t>& tokens, uint32_t count) {
    return one_->after(tokens, count, width());
  }

  // The score of a query and a key in steps, rounded as the program does or not at all.
  double score(uint32_t query, uint32_t key, size_t channel, bool rounded) const {
    const auto head = static_cast<size_t>(op_.head);
    const size_t first = channel / head * head;
    double sum = 0.0;
    for (size_t i = first; i < first + head; ++i) sum += at(0, query, i) * at(1, key, i);
    const double steps = std::ldexp(sum, -op_.attr);
    if (!rounded) return steps;
    return std::floor(rounds_to_nearest() ? steps + 0.5 : steps);
  }

  int8_t at(size_t which, uint32_t token, size_t channel) const { return vectors_[which][token * width() + channel]; }

 private:
  Learner learner_;
  egg_op op_{};
  std::optional<OneOp> one_;
  std::vector<int8_t> vectors_[3];  // queries, keys, values: (vocabulary, width)
};

struct Mean {
  double value;
  double weight;  // the sum of the attention weights
  double range;   // the range of the values
};

// One channel of the attention of the last token of [0, count).
Mean double_attention(const OneAttention& one, const Kind& kind, double steps_per_bit,
                      const std::vector<uint32_t>& tokens, uint32_t count, size_t channel, bool rounded) {
  std::vector<double> scores;
  for (uint32_t j = 0; j < count; ++j) scores.push_back(one.score(tokens[count - 1], tokens[j], channel, rounded));
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  double total = 0.0;
  double low = 127.0;
  double high = -127.0;
  for (uint32_t j = 0; j < count; ++j) {
    const double odds = std::exp2(std::clamp(scores[j], -127.0, 127.0) / steps_per_bit);
    const double weight = one.sigmoid() ? odds / (1.0 + odds) : std::exp2((scores[j] - largest) / steps_per_bit);
    const double value = one.at(2, tokens[j], channel);
    sum += std::exp2(kind.scale) * weight * value;
    total += std::exp2(kind.scale) * weight;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {sum / total, total, high - low};
}

class Attention : public testing::TestWithParam<Kind> {};

TEST_P(Attention, IsWithinItsRoundingsOfADoublePrecisionOne) {
  const Kind& kind = GetParam();
  OneAttention one(kind);
  const double factors = std::exp2(1.0 / kind.steps_per_bit);
  const double variation = (std::sqrt(factors) - 1.0) / (std::sqrt(factors) + 1.0);
  const double entry = one.sigmoid() ? 0.5 : 1.0;
  const double quotient = one.rounds_to_nearest() ? 0.5 : 1.0;
  Draws draws(41);
  double worst = 0.0;             // errors as shares of their bounds
  double worst_of_rounded = 0.0;  // for the double-precision attention with rounded scores
  double worst_of_wrong = 0.0;    // for a double-precision attention with another temperature
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<uint32_t> tokens;
    for (uint32_t t = 0; t < one.context(); ++t) tokens.push_back(draws.below(kVocab));
    for (uint32_t count = 1; count <= one.context(); ++count) {
      const std::vector<int8_t> mixed = one.mixed(tokens, count);
      for (size_t i = 0; i < one.width(); ++i) {
        const auto share = [&](double steps_per_bit, bool rounded) {
          const Mean mean = double_attention(one, kind, steps_per_bit, tokens, count, i, rounded);
          const double weight = mean.weight / (rounded ? 1.0 : factors) - count * entry;
          const double bound = mean.range * ((rounded ? 0.0 : variation) + count * entry / weight) + quotient;
          return std::abs(mixed[i] - mean.value) / bound;
        };
        worst = std::max(worst, share(kind.steps_per_bit, false));
        worst_of_rounded = std::max(worst_of_rounded, share(kind.steps_per_bit, true));
        worst_of_wrong = std::max(worst_of_wrong, share(kind.steps_per_bit * 1.2, false));
      }
    }
  }
  RecordProperty("worst", std::to_string(worst));
  RecordProperty("worst_of_rounded", std::to_string(worst_of_rounded));
  RecordProperty("worst_of_wrong", std::to_string(worst_of_wrong));
  EXPECT_LE(worst, 1.0);
  EXPECT_LE(worst_of_rounded, 1.0);
  EXPECT_GT(worst_of_wrong, 1.0) << "the bound does not tell one temperature from another";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Attention,
    testing::Values(Kind{"softmax", {"model=int8nativeformer"}, 8.0, 14.0},
                    Kind{"sigmoid", {"model=int8nativeformer", "model.attention.kind=sigmoid"}, 16.0, 14.0},
                    Kind{"egg_c", {"model=egg_c_former", "model.attention.shift=12"}, 6.0 * std::log(2.0), 18.0}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace eggroll::test
