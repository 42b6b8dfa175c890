#include "experiment/sampler.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/seed_seq.hpp>
#include <boost/random/sobol.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <limits>

namespace eggroll {
namespace {

using Random = boost::random::mt19937_64;

constexpr double kGoodShare = 0.25;
constexpr int kCandidates = 24;
constexpr double kLargestUnit = 1.0 - 0x1p-32;
constexpr double kWorst = std::numeric_limits<double>::infinity();
constexpr uint64_t kShift = std::numeric_limits<uint64_t>::max();  // in place of a draw's number: for all draws

Random random_of(uint64_t seed, uint64_t draw) {
  const auto word = [](uint64_t number, int shift) { return static_cast<uint32_t>(number >> shift); };
  boost::random::seed_seq words({word(seed, 0), word(seed, 32), word(draw, 0), word(draw, 32)});
  return Random(words);
}

double uniform(Random& random) { return std::min(boost::random::uniform_01<double>()(random), kLargestUnit); }

std::vector<double> random_point(size_t size, uint64_t seed, uint64_t draw) {
  Random random = random_of(seed, draw);
  std::vector<double> point(size);
  for (double& u : point) u = uniform(random);
  return point;
}

std::vector<double> sobol_point(size_t size, uint64_t seed, uint64_t draw) {
  boost::random::sobol sequence(size);
  sequence.discard(draw * size);
  std::vector<double> point = random_point(size, seed, kShift);
  for (double& u : point) {
    u += static_cast<double>(sequence()) * 0x1p-64;
    u = std::min(u - std::floor(u), kLargestUnit);
  }
  return point;
}

// A density on [0, 1) of one coordinate: a part for each trial, and a uniform part with the weight of one trial.
class Density {
 public:
  Density(const SearchParam& param, std::vector<double> at) : param_(param), centres_(std::move(at)) {
    std::sort(centres_.begin(), centres_.end());
    if (param_.ordered) {
      for (size_t i = 0; i < centres_.size(); ++i) widths_.push_back(width_at(i));
    } else {
      weights_.assign(param_.choices.size(), 1.0 / static_cast<double>(param_.choices.size()));
      for (const double u : centres_) weights_[param_.choice_at(u)] += 1.0;
    }
  }

  double draw(Random& random) const {
    // The last one is the uniform part.
    const auto part = static_cast<size_t>(uniform(random) * static_cast<double>(centres_.size() + 1));
    if (part >= centres_.size()) return uniform(random);
    if (!param_.ordered) return centres_[part];
    boost::random::normal_distribution<double> normal(centres_[part], widths_[part]);
    for (int tries = 0; tries < 100; ++tries) {
      const double u = normal(random);
      if (u >= 0.0 && u < 1.0) return std::min(u, kLargestUnit);
    }
    return centres_[part];
  }

  double at(double u) const {
    const auto parts = static_cast<double>(centres_.size() + 1);
    if (!param_.ordered) return weights_[param_.choice_at(u)] / parts * static_cast<double>(weights_.size());
    double sum = 1.0;
    for (size_t i = 0; i < centres_.size(); ++i) sum += normal_at(u, centres_[i], widths_[i]);
    return sum / parts;
  }

 private:
  // The width reaches to the further of its neighbours; the ends of the interval count as neighbours.
  double width_at(size_t i) const {
    const double below = centres_[i] - (i == 0 ? 0.0 : centres_[i - 1]);
    const double above = (i + 1 == centres_.size() ? 1.0 : centres_[i + 1]) - centres_[i];
    const double least = 1.0 / std::min(100.0, static_cast<double>(centres_.size()) + 2.0);
    return std::clamp(std::max(below, above), least, 1.0);
  }

  // The density of a normal distribution cut off outside [0, 1].
  static double normal_at(double u, double centre, double width) {
    const auto below = [&](double x) { return 0.5 * std::erfc((centre - x) / width * M_SQRT1_2); };
    const double z = (u - centre) / width;
    return std::exp(-0.5 * z * z) / (width * std::sqrt(2.0 * M_PI)) / (below(1.0) - below(0.0));
  }

  const SearchParam& param_;
  std::vector<double> centres_;
  std::vector<double> widths_;   // of ordered values
  std::vector<double> weights_;  // by choice, of others
};

std::vector<double> tpe_point(const std::vector<SearchParam>& params, uint64_t seed, uint64_t draw,
                              std::vector<Observed> observed) {
  std::stable_sort(observed.begin(), observed.end(), [](const Observed& a, const Observed& b) {
    return a.score.value_or(kWorst) < b.score.value_or(kWorst);
  });
  const auto good = static_cast<size_t>(std::ceil(kGoodShare * static_cast<double>(observed.size())));
  Random random = random_of(seed, draw);
  std::vector<double> point;
  for (size_t i = 0; i < params.size(); ++i) {
    std::vector<double> best;
    std::vector<double> others;
    for (size_t k = 0; k < observed.size(); ++k) (k < good ? best : others).push_back(observed[k].coordinates[i]);
    const Density of_best(params[i], std::move(best));
    const Density of_others(params[i], std::move(others));
    double chosen = 0.0;
    double highest = -1.0;
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
      const double u = of_best.draw(random);
      const double ratio = of_best.at(u) / of_others.at(u);
      if (ratio <= highest) continue;
      highest = ratio;
      chosen = u;
    }
    point.push_back(chosen);
  }
  return point;
}

}  // namespace

std::vector<double> draw_point(SamplerKind kind, const std::vector<SearchParam>& params, uint64_t seed, uint64_t draw,
                               const std::vector<Observed>& observed) {
  if (kind == SamplerKind::kRandom) return random_point(params.size(), seed, draw);
  if (kind == SamplerKind::kSobol || observed.empty()) return sobol_point(params.size(), seed, draw);
  return tpe_point(params, seed, draw, observed);
}

}  // namespace eggroll
