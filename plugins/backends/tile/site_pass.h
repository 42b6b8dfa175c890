// Runs the streams of sites in a tile. Lanes are streams, as in inference. What the sites need from each token is taken
// as soon as it is computed.
#ifndef EGGROLL_TILE_SITE_PASS_H
#define EGGROLL_TILE_SITE_PASS_H

#include <memory>
#include <optional>
#include <vector>

#include "eggroll/logit_draws.h"
#include "site_behind.h"

namespace eggroll::tile {

// The data that one thread needs.
template <class S>
class SitePass : public TokenListener<S> {
 public:
  SitePass(const Model<S>& model, const egg_session_spec& spec, std::vector<SiteErrors>& sites)
      : seed_(spec.noise.seed) {
    for (SiteErrors& site : sites) {
      Place& place = places_.emplace_back();
      place.site = &site;
      if (is_at_loss(*spec.program, site.site.value)) {
        place.draws.emplace(*spec.program, site.site);
      } else {
        place.behind = std::make_unique<SiteBehind<S>>(model, site);
      }
    }
    logits_.resize(static_cast<size_t>(spec.program->vocab));
  }

  static uint64_t bytes(const Plan& plan, const egg_session_spec& spec) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < spec.site_count; ++i) {
      const SiteShape site(spec, i);
      bytes += is_at_loss(*spec.program, site.site.value) ? LogitDraws::bytes(*spec.program)
                                                          : SiteBehind<S>::bytes(plan, site);
    }
    return bytes;
  }

  // Lanes [0, count) read streams of the step from `first` on, of the batch from `in_batch` on.
  void begin(const egg_evaluate& e, uint32_t first, uint32_t in_batch, size_t count) {
    call_ = &e;
    first_ = first;
    in_batch_ = in_batch;
    count_ = count;
    for (Place& p : places_) {
      if (p.behind != nullptr && p.site->has(first)) p.behind->begin();
    }
  }

  void after(const Tile<S>& tile, uint32_t op) override {
    const auto token = static_cast<uint32_t>(tile.now->position);
    for (Place& p : places_) {
      SiteErrors& site = *p.site;
      if (!site.has(first_)) continue;
      if (p.behind != nullptr) p.behind->after(tile, op);
      for (SiteErrors::Input& input : site.inputs) {
        if (input.op != op) continue;
        const int8_t* from = tile.at[static_cast<size_t>(tile.model.plan.program->ops[op].in[0])];
        for (uint32_t lane = 0; lane < count_; ++lane) {
          Tile<S>::take_lane(from, lane, input.size,
                             input.values.data() + site.place(first_ + lane, token) * input.size);
        }
      }
      if (site.made_by != op || !p.draws) continue;
      each_place(tile, site, [&](uint32_t lane, uint32_t target, int16_t* error) {
        Tile<S>::take_lane(tile.at[static_cast<size_t>(site.site.value)], lane, site.size, logits_.data());
        const auto key_of = [&](uint32_t draw) { return site.key(seed_, call_->step, first_ + lane, token, draw); };
        p.draws->error(logits_.data(), target, key_of, error);
      });
    }
  }

  void end(const Tile<S>& tile) override {
    for (Place& p : places_) {
      if (p.behind == nullptr || !p.site->has(first_)) continue;
      each_place(tile, *p.site, [&](uint32_t lane, uint32_t /*target*/, int16_t* error) {
        p.behind->find_error(tile, lane, first_ + lane, in_batch_ + lane, *call_, seed_, error);
      });
    }
  }

 private:
  struct Place {
    SiteErrors* site = nullptr;
    std::optional<LogitDraws> draws;        // at the logits
    std::unique_ptr<SiteBehind<S>> behind;  // elsewhere
  };

  // Calls body(lane, target, error) for the lanes that have a target.
  template <class Body>
  void each_place(const Tile<S>& tile, SiteErrors& site, const Body& body) const {
    for (uint32_t lane = 0; lane < count_; ++lane) {
      const size_t place = site.place(first_ + lane, static_cast<uint32_t>(tile.now->position));
      const uint32_t target = tile.now->targets[lane];
      site.perturbed[place] = target != EGG_NO_TARGET ? 1 : 0;
      if (target != EGG_NO_TARGET) body(lane, target, site.error(place));
    }
  }

  uint64_t seed_;
  std::vector<Place> places_;
  std::vector<int8_t> logits_;
  const egg_evaluate* call_ = nullptr;
  uint32_t first_ = 0;
  uint32_t in_batch_ = 0;
  size_t count_ = 0;
};

}  // namespace eggroll::tile

#endif
