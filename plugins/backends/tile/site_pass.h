// The streams of sites in a tile: lanes are streams, as in inference, and what the sites need of each token is taken as
// soon as it is there. Only sites at what the loss reads, with orthogonal draws.
#ifndef EGGROLL_TILE_SITE_PASS_H
#define EGGROLL_TILE_SITE_PASS_H

#include <vector>

#include "eggroll/logit_draws.h"
#include "eggroll/site_errors.h"
#include "tile.h"

namespace eggroll::tile {

// What one thread works with.
template <class S>
class SitePass : public AfterOp<S> {
 public:
  SitePass(const egg_session_spec& spec, std::vector<SiteErrors>& sites) : seed_(spec.noise.seed) {
    for (SiteErrors& site : sites) places_.push_back({&site, LogitDraws(*spec.program, site.site)});
    logits_.resize(static_cast<size_t>(spec.program->vocab));
  }

  // Lanes [0, count) read streams of the step from `first` on.
  void begin(uint64_t step, uint32_t first, size_t count) {
    step_ = step;
    first_ = first;
    count_ = count;
  }

  void after(const Tile<S>& tile, uint32_t op) override {
    const auto token = static_cast<uint32_t>(tile.now->position);
    for (Place& p : places_) {
      SiteErrors& site = *p.site;
      if (!site.has(first_)) continue;
      for (SiteErrors::Input& input : site.inputs) {
        if (input.op != op) continue;
        const int8_t* from = tile.at[static_cast<size_t>(tile.model.plan.program->ops[op].in[0])];
        for (uint32_t lane = 0; lane < count_; ++lane) {
          take_lane(from, lane, input.size, input.values.data() + site.place(first_ + lane, token) * input.size);
        }
      }
      if (site.made_by != op) continue;
      for (uint32_t lane = 0; lane < count_; ++lane) {
        const size_t place = site.place(first_ + lane, token);
        const uint32_t target = tile.now->targets[lane];
        site.perturbed[place] = target != EGG_NO_TARGET ? 1 : 0;
        if (target == EGG_NO_TARGET) continue;
        take_lane(tile.at[static_cast<size_t>(site.site.value)], lane, site.size, logits_.data());
        p.draws.error(logits_.data(), target, site.key(seed_, step_, first_ + lane, token, 0), site.error(place));
      }
    }
  }

 private:
  struct Place {
    SiteErrors* site;
    LogitDraws draws;
  };

  // A value's channels, from a lane of quads to one after another.
  static void take_lane(const int8_t* from, uint32_t lane, uint32_t size, int8_t* to) {
    for (uint32_t v = 0; v < size; v += 4) {
      std::copy_n(from + v / 4 * Tile<S>::kQuadBytes + 4 * lane, std::min(4U, size - v), to + v);
    }
  }

  uint64_t seed_;
  std::vector<Place> places_;
  std::vector<int8_t> logits_;
  uint64_t step_ = 0;
  uint32_t first_ = 0;
  size_t count_ = 0;
};

}  // namespace eggroll::tile

#endif
