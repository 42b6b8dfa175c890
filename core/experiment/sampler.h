// Chooses where a search looks next: points of the unit cube, with a coordinate for each setting.
#ifndef EGGROLL_EXPERIMENT_SAMPLER_H
#define EGGROLL_EXPERIMENT_SAMPLER_H

#include <cstdint>
#include <optional>
#include <vector>

#include "experiment/space.h"

namespace eggroll {

enum class SamplerKind { kRandom, kSobol, kTpe };

// A trial whose score at the first rung is known.
struct Observed {
  std::vector<double> coordinates;
  std::optional<double> score;  // the lower, the better; absent if the trial failed, which is worse than any
};

// Draw number `draw` of the seed. Random and Sobol points depend on these two alone:
//   random  independent and uniform.
//   sobol   the Sobol sequence (Boost.Random), moved by one random vector modulo 1 (Cranley and Patterson, 1976).
//   tpe     the tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kegl, 2011): each coordinate is drawn
//           from a density of the best quarter of the observed trials; of 24 draws that is taken whose density there,
//           over that of all other trials, is the highest. Without observed trials a Sobol point.
std::vector<double> draw_point(SamplerKind kind, const std::vector<SearchParam>& params, uint64_t seed, uint64_t draw,
                               const std::vector<Observed>& observed);

}  // namespace eggroll

#endif
