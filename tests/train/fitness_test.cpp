// Every form of fitness gives the values computed by hand and is an odd function. The null vote has the deviation that
// is computed for it.
#include "train/fitness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include "eggroll/program_builder.h"
#include "eggroll/row_voters.h"
#include "eggroll/rule_builder.h"
#include "eggroll/threads.h"
#include "train/fitness_forms.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;
using Values = std::vector<int8_t>;

// Losses whose pairs differ by d: an even member's loss is 1000, its partner's is 1000 + d.
std::vector<int64_t> losses_of(const std::vector<int64_t>& d) {
  std::vector<int64_t> losses;
  for (const int64_t x : d) {
    losses.push_back(1000);
    losses.push_back(1000 + x);
  }
  return losses;
}

TEST(Fitness, EachFormHasItsOptions) {
  std::vector<std::string> options;
  for (const auto& file : std::filesystem::directory_iterator(EGGROLL_SOURCE_DIR "/configs/fitness")) {
    options.push_back(file.path().stem().string());
  }
  EXPECT_THAT(options, UnorderedElementsAreArray(fitness_form_names()))
      << "left: configs/fitness/*.yaml, right: core/train/fitness_forms.h";
  for (const std::string& option : options) {
    EXPECT_EQ(scalar_text(repository_config({"fitness=" + option}).at("fitness").at("name")), option);
    EXPECT_NO_THROW(fitness_within(option, {})) << option;
  }
}

// Each row has a form's fitness, computed by hand, of pairs that differ by 7, -1, 0, 2 and -6 (root mean square
// sqrt(18)), with the settings of configs/.
TEST(Fitness, EachFormHasAKnownAnswer) {
  const std::map<std::string, Values> answers = {
      {"sign", {1, -1, 0, 1, -1}},
      {"zscore", {53, -8, 0, 15, -45}},
      {"centered_rank", {127, -51, 0, 76, -102}},
      {"difference", {53, -8, 0, 15, -45}},
  };
  for (const std::string& name : fitness_form_names()) {
    const auto known = answers.find(name);
    if (known == answers.end()) {
      ADD_FAILURE() << "no known answer for the form '" << name << "', expected a row of this table; add one";
      continue;
    }
    EXPECT_EQ(fitness_within(name, {}).of(losses_of({7, -1, 0, 2, -6})), known->second) << name;
  }
}

TEST(Fitness, Sign) { EXPECT_EQ(fitness_of("sign").of(losses_of({5, -3, 0, 1, -1000000})), (Values{1, -1, 0, 1, -1})); }

TEST(Fitness, ZscoreIsTheDifferenceOverTheRootMeanSquare) {
  const Fitness zscore = fitness_of("zscore", "clip", 2.0);
  // Root mean square 3: one deviation is 64 / 2.
  EXPECT_EQ(zscore.of(losses_of({3, -3, 3, -3})), (Values{32, -32, 32, -32}));
  // Root mean square 5: 7/5 * 32 = 44.8 and 1/5 * 32 = 6.4.
  EXPECT_EQ(zscore.of(losses_of({7, -1})), (Values{45, -6}));
  // Root mean square sqrt(10): 60.7 and 20.2.
  EXPECT_EQ(zscore.of(losses_of({6, -2, 0, 0})), (Values{61, -20, 0, 0}));
}

TEST(Fitness, ZscoreCutsAtItsClip) {
  // One pair of sixteen has a difference: 4 deviations. Clip 2 gives 64, and so does any clip.
  std::vector<int64_t> d(16);
  d[3] = -100;
  Values expected(16);
  expected[3] = -64;
  EXPECT_EQ(fitness_of("zscore", "clip", 2.0).of(losses_of(d)), expected);
  EXPECT_EQ(fitness_of("zscore", "clip", 4.0).of(losses_of(d)), expected);
  EXPECT_EQ(fitness_of("zscore", "clip", 0.5).of(losses_of({3, -3})), (Values{64, -64}));
  expected[3] = -32;
  EXPECT_EQ(fitness_of("zscore", "clip", 8.0).of(losses_of(d)), expected);
}

// The test takes differences of every size, and those at which the value changes.
TEST(Fitness, ZscoreIsItsFormulaForEveryDifference) {
  std::mt19937_64 draws(9);
  for (const double clip : {0.1, 0.5, 0.7, 2.0, 3.0, 64.0, 100.0}) {
    const Fitness zscore = fitness_of("zscore", "clip", clip);
    for (const double size : {1.0, 3.0, 90.0, 70'000.0, 0x1p40, 0x1p54}) {
      std::vector<int64_t> d;
      for (int i = 0; i < 4000; ++i) {
        const auto some = static_cast<int64_t>(std::ldexp(static_cast<double>(draws()), -63) * size - size);
        d.push_back(i % 50 == 0 ? 40 * some : some);
      }
      const double rms = root_mean_square(d, nullptr);
      Values expected;
      for (const int64_t x : d) {
        const double standard = rms == 0.0 ? 0.0 : static_cast<double>(x) / rms;
        expected.push_back(static_cast<int8_t>(std::round(std::clamp(standard, -clip, clip) * 64.0 / clip)));
      }
      EXPECT_EQ(zscore.of(losses_of(d)), expected) << clip << " " << size;
    }
  }
}

// The test takes values next to every half, which a quotient in single precision may round to the other side.
TEST(Fitness, RoundingIsThatOfTheQuotientInDoublePrecision) {
  constexpr size_t kApart = 64;  // a difference of its own in each block that is rounded at once
  const Rounding roundings[] = {{1.0, 32.0, 1.0, 64}, {3.0, 64.0, 0.7, 64}, {1.0, 127.0, 1.0, 127}};
  for (Rounding rounding : roundings) {
    for (const double rms : {0.01, 1.0, 640.0, 123'457.25, 0x1p20, 0x1.8p27, 0x1p40}) {
      rounding.rms = rms;
      std::vector<int64_t> d;
      for (int32_t value = -rounding.most - 2; value <= rounding.most + 2; ++value) {
        const double half = (value + 0.5) * rms * rounding.divisor / rounding.scale;
        for (int64_t beside = -2; beside <= 2; ++beside) {
          d.push_back(std::llround(half) + beside);
          d.resize(d.size() + kApart - 1);
        }
      }
      Values fitness(d.size());
      set_rounded(d, fitness, rounding, nullptr);
      for (size_t k = 0; k < d.size(); ++k) {
        const double quotient = static_cast<double>(d[k]) / rms * rounding.scale / rounding.divisor;
        const double expected = std::clamp<double>(std::round(quotient), -rounding.most, rounding.most);
        ASSERT_EQ(fitness[k], static_cast<int8_t>(expected)) << d[k] << " of " << rms << " to " << rounding.most;
      }
    }
  }
}

TEST(Fitness, CenteredRankIsTheSignedRankOfTheMagnitude) {
  const Fitness rank = fitness_of("centered_rank");
  // Ranks 1 to 4 of 4, times 127 / 4: 31.75, 63.5, 95.25, 127.
  EXPECT_EQ(rank.of(losses_of({10, -20, 30, -40})), (Values{32, -64, 95, -127}));
  EXPECT_EQ(rank.of(losses_of({-40, 10, 30, -20})), (Values{-127, 32, 95, -64}));
  // Equal magnitudes share the mean rank: 1.5 and 3.5 of 4.
  EXPECT_EQ(rank.of(losses_of({10, -10, 30, 30})), (Values{48, -48, 111, 111}));
  // Pairs without a difference take the lowest ranks and get nothing.
  EXPECT_EQ(rank.of(losses_of({0, 0, 5, -7})), (Values{0, 0, 95, -127}));
  EXPECT_EQ(rank.of(losses_of({-1})), (Values{-127}));
}

TEST(Fitness, DifferenceIsScaledByAlphaAndRoundedAwayFromZero) {
  EXPECT_EQ(fitness_of("difference", "alpha", 32.0).of(losses_of({7, -1})), (Values{45, -6}));
  EXPECT_EQ(fitness_of("difference", "alpha", 0.5).of(losses_of({3, -3})), (Values{1, -1}));
  EXPECT_EQ(fitness_of("difference", "alpha", 0.4).of(losses_of({3, -3})), (Values{0, 0}));
}

TEST(Fitness, DifferenceIsCutAtFullScale) {
  std::vector<int64_t> d(16);
  d[0] = 100;
  d[1] = -100;
  // sqrt(8) = 2.83 deviations: 32 times that is 90.5, 127 times that is cut.
  Values expected(16);
  expected[0] = 91;
  expected[1] = -91;
  EXPECT_EQ(fitness_of("difference", "alpha", 32.0).of(losses_of(d)), expected);
  expected[0] = 127;
  expected[1] = -127;
  EXPECT_EQ(fitness_of("difference", "alpha", 127.0).of(losses_of(d)), expected);
}

// Values near halves, of blocks with numbers of more than 32 bits and without, whole and cut off.
TEST(Fitness, ValuesAreRoundedAndCut) {
  for (const int64_t largest : {int64_t{1}, int64_t{1} << 31, (int64_t{1} << 31) - 1, int64_t{1} << 40}) {
    for (const size_t count : {size_t{1}, size_t{1023}, size_t{1024}, size_t{3000}}) {
      std::vector<int64_t> d(count, -largest);
      for (size_t k = 0; k < count; k += 2) d[k] = largest;
      for (int32_t k = -300; k <= 300; ++k) {
        const double half = k / 2.0;
        for (const double x : {half, std::nextafter(half, 1000.0), std::nextafter(half, -1000.0), half + 0.2}) {
          Values fitness(count);
          set_rounded(d, fitness, {static_cast<double>(largest), x, 1.0, 100}, nullptr);
          const auto expected = static_cast<int8_t>(std::round(std::clamp(x, -100.0, 100.0)));
          for (size_t i = 0; i < count; ++i) {
            ASSERT_EQ(fitness[i], i % 2 == 0 ? expected : -expected) << x << " " << largest << " " << i;
          }
        }
      }
    }
  }
}

TEST(Fitness, CountsThePairsWithoutFitness) {
  Values fitness(200'000, 3);
  EXPECT_EQ(pairs_without(fitness), 0U);
  for (const size_t k : {0UL, 65'535UL, 65'536UL, 131'072UL, 199'999UL}) fitness[k] = 0;
  EXPECT_EQ(pairs_without(fitness), 5U);
  EXPECT_EQ(pairs_without(std::span(fitness).first(0)), 0U);
}

TEST(Fitness, SquaresAddUpOverAnyRange) {
  Values fitness(200'000);
  for (size_t k = 0; k < fitness.size(); ++k) fitness[k] = static_cast<int8_t>(k % 255 - 127);
  const egg_voters range{777, 190'000, 0};
  int64_t expected = 0;
  for (size_t k = 777; k < 190'777; ++k) expected += fitness[k] * fitness[k];
  EXPECT_EQ(squares_of(range, fitness.data()), expected);
  std::fill(fitness.begin(), fitness.end(), int8_t{-127});
  EXPECT_EQ(squares_of(range, fitness.data()), 190'000LL * 127 * 127);
}

TEST(Fitness, EqualLossesAreWorthNothing) {
  for (const Fitness& form : all_fitness_forms()) EXPECT_EQ(form.of(losses_of({0, 0, 0})), (Values{0, 0, 0}));
}

// The losses are those of a long text, in Q16 bits. Their squares exceed int64, and a common factor changes nothing.
TEST(Fitness, LargeLossesCountLikeSmallOnes) {
  const std::vector<int64_t> small = {7, -1, 0, 3, -12, 5, 5, -3};
  std::vector<int64_t> large;
  for (const int64_t x : small) large.push_back(x << 40);
  for (const Fitness& form : all_fitness_forms()) EXPECT_EQ(form.of(losses_of(large)), form.of(losses_of(small)));
}

// Exchanging a pair's members flips that pair's fitness and leaves all others as they are, to the bit. The losses are
// small, so that ties and pairs without a difference occur.
TEST(Fitness, EveryFormIsOdd) {
  Draws draws(7);
  size_t flips = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const size_t pairs = 1 + draws.below(40);
    const uint32_t spread = trial % 2 == 0 ? 6 : 100000;
    std::vector<int64_t> losses;
    for (size_t i = 0; i < 2 * pairs; ++i) losses.push_back(draws.below(spread));
    for (const Fitness& form : all_fitness_forms()) {
      const Values before = form.of(losses);
      ASSERT_EQ(before.size(), pairs);
      EXPECT_THAT(before, Each(testing::Ge(-127)));
      for (size_t k = 0; k < pairs; ++k) {
        std::vector<int64_t> exchanged = losses;
        std::swap(exchanged[2 * k], exchanged[2 * k + 1]);
        Values expected = before;
        expected[k] = static_cast<int8_t>(-expected[k]);
        ASSERT_EQ(form.of(exchanged), expected) << "pair " << k;
        flips += before[k] != 0 ? 1U : 0U;
        // The member with the lower loss gets the better fitness.
        const int64_t d = losses[2 * k + 1] - losses[2 * k];
        EXPECT_GE(before[k] * d, 0);
        EXPECT_TRUE(d != 0 || before[k] == 0);
      }
    }
  }
  EXPECT_GT(flips, 1000U);
}

TEST(Fitness, ThreadsChangeNothing) {
  Draws draws(9);
  std::vector<int64_t> losses;
  for (int i = 0; i < 2 * 10000; ++i) losses.push_back(draws.below(1000));
  Threads threads(3);
  for (const Fitness& form : all_fitness_forms()) {
    Values fitness;
    form.of_differences(differences(losses), fitness, &threads);
    EXPECT_EQ(fitness, form.of(losses));
  }
}

// A number of at most this many bits (1 to 62) and of any sign.
int64_t magnitude_of(Draws& draws, int bits) {
  const int64_t high = draws.below(UINT32_MAX);
  const int64_t number = (high << 31 | draws.below(1U << 31)) >> (63 - bits);
  return draws.below(2) == 0 ? number : -number;
}

// This holds even if the squares add up to more than doubles hold exactly, so that their order matters.
TEST(Fitness, TheRootMeanSquareIsThatOfASumInOrder) {
  Draws draws(10);
  Threads threads(3);
  int rounded = 0;
  for (const int bits : {1, 10, 18, 19, 20, 25, 26, 27, 31, 40, 62}) {
    std::vector<int64_t> d;
    for (int i = 0; i < 20000; ++i) d.push_back(magnitude_of(draws, bits));
    double sum = 0.0;
    double backwards = 0.0;
    for (size_t i = 0; i < d.size(); ++i) {
      sum += static_cast<double>(d[i]) * static_cast<double>(d[i]);
      backwards += static_cast<double>(d[d.size() - 1 - i]) * static_cast<double>(d[d.size() - 1 - i]);
    }
    rounded += sum == backwards ? 0 : 1;
    EXPECT_EQ(root_mean_square(d, &threads), std::sqrt(sum / 20000.0)) << bits;
    EXPECT_EQ(root_mean_square(d, nullptr), std::sqrt(sum / 20000.0)) << bits;
  }
  EXPECT_GE(rounded, 3);
  const std::vector<int64_t> least = {std::numeric_limits<int64_t>::min(), 0};
  EXPECT_EQ(root_mean_square(least, nullptr), std::sqrt(std::ldexp(1.0, 125)));
}

TEST(Fitness, RefusesWrongSettings) {
  EXPECT_EQ(message_of([] { fitness_of("zscre", "clip", 2.0); }),
            fmt::format("name is 'zscre', expected one of {}; did you mean 'zscore'?",
                        fmt::join(fitness_form_names(), ", ")));
  EXPECT_EQ(message_of([] { fitness_of("zscore", "clip", 0.0); }), "clip is 0, expected a number from 0.1 to 100");
  EXPECT_EQ(message_of([] { fitness_of("difference", "alpha", 128.0); }),
            "alpha is 128, expected a number from 0.001 to 127");
  EXPECT_THAT(message_of([] { fitness_of("difference"); }), HasSubstr("missing key 'alpha'"));
  EXPECT_THAT(message_of([] { fitness_of("sign", "clip", 2.0); }), HasSubstr("unknown key 'clip'"));
}

egg_param param_of(int32_t kind, int32_t perturbed = 1) {
  return egg_param{"p", kind, 4, kind == EGG_PARAM_MATRIX ? 4 : 1, EGG_INIT_CONSTANT, 0, perturbed};
}

egg_noise noise_of(int32_t distribution, int32_t rank) {
  egg_noise noise{};
  noise.seed = 11;
  noise.distribution = distribution;
  noise.rank = rank;
  noise.sigma_shift = noise.sigma_vector_shift = 4;
  return noise;
}

// sqrt(3^2 + 4^2) = 5; second moments 254.3828125, 256.0390625 and 256.
TEST(VoteStd, ByHand) {
  const auto vote_std = [](const Values& fitness, const egg_param& param, const egg_noise& noise) {
    return vote_stds(fitness, std::array{param}, noise).front();
  };
  const Values fitness = {3, -4, 0};
  EXPECT_EQ(vote_std(fitness, param_of(EGG_PARAM_MATRIX), noise_of(EGG_NOISE_GAUSSIAN, 1)), 1271.9140625F);
  EXPECT_EQ(vote_std(fitness, param_of(EGG_PARAM_MATRIX), noise_of(EGG_NOISE_UNIFORM, 1)), 1280.1953125F);
  EXPECT_EQ(vote_std(fitness, param_of(EGG_PARAM_MATRIX), noise_of(EGG_NOISE_RADEMACHER, 1)), 1280.0F);
  EXPECT_EQ(vote_std(fitness, param_of(EGG_PARAM_MATRIX), noise_of(EGG_NOISE_RADEMACHER, 4)), 2560.0F);
  EXPECT_EQ(vote_std(fitness, param_of(EGG_PARAM_VECTOR), noise_of(EGG_NOISE_RADEMACHER, 4)), 1280.0F);
  EXPECT_EQ(vote_std(fitness, param_of(EGG_PARAM_MATRIX, 0), noise_of(EGG_NOISE_RADEMACHER, 1)), 0.0F);
  EXPECT_EQ(vote_std({0, 0, 0}, param_of(EGG_PARAM_MATRIX), noise_of(EGG_NOISE_GAUSSIAN, 1)), 0.0F);
  EXPECT_EQ(vote_std(Values(1 << 16, 127), param_of(EGG_PARAM_MATRIX), noise_of(EGG_NOISE_RADEMACHER, 1)),
            127.0F * 256.0F * 256.0F);
}

// Measures the deviation of the backend's votes over 4000 steps whose fitness does not depend on the noise. The vector
// gives 32000 votes, the matrix 256000, so that the estimate's own deviation is below 1 / sqrt(2 * 32000) = 0.4%; the
// bound is 1.5%. The test would show a missing factor for the rank (1.7), or a vector that is taken for a matrix.
TEST(VoteStd, IsThatOfTheNull) {
  constexpr uint64_t kSteps = 4000;
  constexpr uint32_t kPairs = 24;
  constexpr int32_t kSize = 8;
  ProgramBuilder model(kSize, 4, EGG_ROUND_NEAREST);
  const Value x = model.embed("x", model.matrix("matrix", kSize, kSize, 0));
  model.loss(model.add("logits", x, Value{}, model.vector("vector", kSize, 0)), 4096);
  const Program program(*model.view());
  RuleBuilder builder;
  builder.set_slot(builder.slot("vote", 'f'), builder.vote_f32());
  builder.delta(builder.constant(0));
  const Rule rule(*builder.view());
  const Learner learner(small_config(), built_plugins());
  Values fitness;
  Draws draws(3);
  for (uint32_t k = 0; k < kPairs; ++k) fitness.push_back(draws.weight());

  for (const int32_t rank : {1, 3}) {
    for (const int32_t distribution : {EGG_NOISE_GAUSSIAN, EGG_NOISE_UNIFORM, EGG_NOISE_RADEMACHER}) {
      const egg_noise noise = noise_of(distribution, rank);
      BackendSession session = learner.backend->open_session(egg_session_spec{
          sizeof(egg_session_spec), 1, &program.view(), &rule.view(), noise, 2 * kPairs, 0, 2 * kPairs, 0, nullptr});
      std::vector<double> squares(2);
      const std::vector<float> stds(2, 1.0F);
      std::vector<int64_t> changed(2);
      for (uint64_t step = 0; step < kSteps; ++step) {
        session.update(egg_update{
            sizeof(egg_update), kPairs, step, fitness.data(), nullptr, stds.data(), changed.data(), nullptr, {}, 2, 0});
        for (uint32_t p = 0; p < 2; ++p) {
          std::vector<float> votes(weight_count(program.params()[p]));
          session.get_slot(p, 0, votes.data());
          for (const float vote : votes) {
            squares[p] += double{vote} * double{vote} / static_cast<double>(votes.size() * kSteps);
          }
        }
      }
      const std::vector<float> expected = vote_stds(fitness, program.params(), noise);
      for (uint32_t p = 0; p < 2; ++p) {
        const double ratio = std::sqrt(squares[p]) / double{expected[p]};
        EXPECT_NEAR(ratio, 1.0, 0.015) << program.params()[p].name << ", rank " << rank << ", distribution "
                                       << distribution;
      }
    }
  }
}

}  // namespace
}  // namespace eggroll::test
