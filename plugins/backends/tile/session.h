// A session of a population-tile backend: tiles of members shared out to threads.
//
// Pairs [t * kPairs, (t + 1) * kPairs) of the session, counted from its first pair, are always tile t. So a tile's
// states stay in its own layout from step to step. If the members of a call do not fill their tiles, whole tiles run,
// and the results of the other members are dropped.
#ifndef EGGROLL_TILE_SESSION_H
#define EGGROLL_TILE_SESSION_H

#include <memory>

#include "eggroll/backend.h"
#include "eggroll/threads.h"
#include "engine.h"
#include "forward.h"
#include "idle.h"
#include "site_pass.h"
#include "votes.h"

namespace eggroll::tile {

template <class S>
class TileSession : public Session {
 public:
  explicit TileSession(const egg_session_spec& spec)
      : spec_(spec),
        plan_(spec_, S::kDepth),
        noise_(spec.noise),
        weights_(plan_),
        loss_tables_(spec.program->ops[spec.program->op_count - 1].attr),
        model_{plan_, noise_, weights_, loss_tables_},
        threads_(spec.threads),
        sites_(sites_of(spec_)),
        votes_(spec_, plan_, noise_, weights_, slots_, sites_),
        first_pair_(spec.first / 2),
        tile_bytes_(plan_.state_quads * T::kQuadBytes),
        states_(tiles_of(spec.members) * tile_bytes_),
        tiles_([this] { return std::make_unique<T>(model_); }),
        passes_([this] { return std::make_unique<SitePass<S>>(model_, spec_, sites_); }) {
    for (size_t i = 0; i < plan_.forms.size(); ++i) {
      slots_.push_back({Buffer<uint32_t>(plan_.forms[i].perturbed ? weights_.size(i) * spec.rule->slot_count : 0)});
    }
  }

  // Bytes that a session of the spec takes with this population: weights in all their forms, slots, states, the table
  // of noise, a tile for each thread, and working memory for votes.
  static uint64_t memory(const egg_session_spec& spec, uint32_t population) {
    const Plan plan(spec, S::kDepth);
    uint64_t bytes = spec.noise.source == EGG_NOISE_TABLE ? uint64_t{1} << spec.noise.table_log2 : 0;
    for (const PlanParam& p : plan.forms) {
      bytes += typename Weights<S>::Forms(p).bytes();
      if (p.perturbed) bytes += uint64_t{p.rows} * p.cols * spec.rule->slot_count * sizeof(uint32_t);
    }
    for (uint32_t i = 0; i < spec.site_count; ++i) bytes += SiteErrors::bytes(spec, i, population);
    return bytes + Votes<S>::memory(spec, plan, population) +
           tiles_of(own_members(spec, population)) * plan.state_quads * T::kQuadBytes +
           Threads::number(spec.threads) * (uint64_t{T::bytes(plan)} + SitePass<S>::bytes(plan, spec));
  }

  void set_weights(uint32_t param, const int8_t* weights) override {
    std::copy_n(weights, weights_.size(param), weights_.plain(param));
    weights_.pack_rows(param, 0, plan_.forms[param].rows);
  }
  void get_weights(uint32_t param, int8_t* weights) override {
    std::copy_n(weights_.plain(param), weights_.size(param), weights);
  }

  void set_slot(uint32_t param, uint32_t slot, const void* data) override {
    if (slots_[param].cells.size() == 0) return;
    std::memcpy(slots_[param].cells.data() + slot * weights_.size(param), data, weights_.size(param) * 4);
  }
  void get_slot(uint32_t param, uint32_t slot, void* data) override {
    if (slots_[param].cells.size() == 0) return;
    std::memcpy(data, slots_[param].cells.data() + slot * weights_.size(param), weights_.size(param) * 4);
  }

  void set_states(uint32_t first, uint32_t count, const int8_t* states) override {
    for (size_t i = 0; i < count; ++i) {
      const auto [tile, lane] = place_of(first + i);
      put_state(states_.data() + tile * tile_bytes_, lane, states + i * plan_.state_bytes);
    }
  }
  void get_states(uint32_t first, uint32_t count, int8_t* states) override {
    for (size_t i = 0; i < count; ++i) {
      const auto [tile, lane] = place_of(first + i);
      take_state(states_.data() + tile * tile_bytes_, lane, states + i * plan_.state_bytes);
    }
  }

  void evaluate(const egg_evaluate& e) override {
    const size_t first = e.first / 2 - first_pair_;
    const size_t first_tile = first / T::kPairs;
    const size_t end_tile = (first + e.count / 2 + T::kPairs - 1) / T::kPairs;
    threads_.split(end_tile - first_tile, [&](size_t begin, size_t end) {
      tiles_.with([&](T& tile) {
        for (size_t t = first_tile + begin; t < first_tile + end; ++t) {
          if (!is_of_sites(t)) evaluate_tile(tile, t, e);
        }
      });
    });
    if (!sites_.empty()) evaluate_sites(e);
  }

  void update(const egg_update& u) override {
    votes_.update(u, threads_);
    for (SiteErrors& site : sites_) site.others.clear();
  }
  void get_site_part(const egg_site_part& part) override { votes_.put_site_part(part, threads_); }
  void add_site_part(const egg_site_part& part) override { sites_[part.site].take(part); }

  void infer(const egg_infer& call) override {
    const size_t tiles = (call.batch.streams + T::kMembers - 1) / T::kMembers;
    threads_.split(tiles, [&](size_t begin, size_t end) {
      tiles_.with([&](T& tile) {
        for (size_t t = begin; t < end; ++t) infer_tile(tile, t * T::kMembers, call);
      });
    });
  }

 private:
  using T = Tile<S>;
  using V32 = typename S::V32;

  static std::vector<SiteErrors> sites_of(const egg_session_spec& spec) {
    std::vector<SiteErrors> sites;
    for (uint32_t i = 0; i < spec.site_count; ++i) sites.emplace_back(spec, i);
    return sites;
  }

  bool is_of_site(size_t pair) const {
    return std::any_of(sites_.begin(), sites_.end(),
                       [&](const SiteErrors& site) { return site.has_pair(static_cast<uint32_t>(pair)); });
  }
  // Whether all pairs of the tile perturb sites.
  bool is_of_sites(size_t tile) const {
    if (sites_.empty()) return false;
    const size_t first = first_pair_ + tile * T::kPairs;
    size_t pair = first;
    while (pair < first + T::kPairs && is_of_site(pair)) ++pair;
    return pair == first + T::kPairs;
  }

  static size_t tiles_of(uint32_t members) { return (members / 2 + T::kPairs - 1) / T::kPairs; }

  std::pair<size_t, size_t> place_of(size_t member) const {
    const size_t pair = member / 2 - first_pair_;
    return {pair / T::kPairs, T::lane_of(pair % T::kPairs, member % 2)};
  }

  // Copies one member's state between the contract's order and a tile's order.
  template <class Copy>
  void each_quad(size_t lane, const Copy& copy) const {
    for (const PlanState& s : plan_.tile_states) {
      for (uint32_t g = 0; 4 * g < s.size; ++g) {
        copy((s.quads_before + g) * T::kQuadBytes + 4 * lane, s.offset + 4 * g, std::min(4U, s.size - 4 * g));
      }
    }
  }
  void put_state(int8_t* tile, size_t lane, const int8_t* state) const {
    each_quad(lane, [&](size_t at, size_t from, uint32_t count) { std::copy_n(state + from, count, tile + at); });
  }
  void take_state(const int8_t* tile, size_t lane, int8_t* state) const {
    each_quad(lane, [&](size_t at, size_t to, uint32_t count) { std::copy_n(tile + at, count, state + to); });
  }

  void evaluate_tile(T& tile, size_t number, const egg_evaluate& e) {
    const auto first_pair = static_cast<uint32_t>(first_pair_ + number * T::kPairs);
    std::array<int64_t, T::kMembers> stream_of;
    std::array<int64_t, T::kMembers> member_of;  // the member's place in the call; -1: a lane outside of the call
    bool whole = true;
    const int64_t first_place = int64_t{first_pair} - e.first / 2;
    const auto in_stream = static_cast<int64_t>(e.members_per_stream / 2);
    int64_t stream = std::max(first_place, int64_t{0}) / in_stream;
    for (size_t pair = 0; pair < T::kPairs; ++pair) {
      const int64_t place = first_place + static_cast<int64_t>(pair);
      const bool meant = place >= 0 && place < static_cast<int64_t>(e.count / 2) && !is_of_site(first_pair + pair);
      if (place == (stream + 1) * in_stream) ++stream;
      for (size_t side = 0; side < 2; ++side) {
        const size_t lane = T::lane_of(pair, side);
        member_of[lane] = meant ? 2 * place + static_cast<int64_t>(side) : -1;
        stream_of[lane] = meant ? stream : -1;
      }
      whole = whole && meant;
    }
    int8_t* states = states_.data() + number * tile_bytes_;
    tile.begin(states);
    tile.draw(e.step, first_pair);
    run_tile(tile, e.batch, stream_of);
    if (whole) std::copy_n(tile.states(), tile_bytes_, states);
    for (size_t lane = 0; lane < T::kMembers; ++lane) {
      if (member_of[lane] < 0) continue;
      e.losses[member_of[lane]] = tile.losses[lane];
      if (whole) continue;
      for (size_t at = 4 * lane; at < tile_bytes_; at += T::kQuadBytes) std::copy_n(tile.states() + at, 4, states + at);
    }
  }

  // Evaluates the call's streams of sites, up to kMembers at once, and never streams of two groups at once.
  void evaluate_sites(const egg_evaluate& e) {
    struct Job {
      uint32_t first;  // stream of the call
      uint32_t count;
    };
    std::vector<Job> jobs;
    const uint32_t before = e.first / e.members_per_stream;
    for (const SiteErrors& site : sites_) {
      const auto same = [&](const SiteErrors& other) { return other.first_stream == site.first_stream; };
      if (&*std::find_if(sites_.begin(), sites_.end(), same) != &site) continue;
      const uint32_t last = std::min(before + e.batch.streams, site.first_stream + site.streams);
      for (uint32_t s = std::max(before, site.first_stream); s < last; s += T::kMembers) {
        jobs.push_back({s - before, std::min<uint32_t>(T::kMembers, last - s)});
      }
    }
    threads_.split(jobs.size(), [&](size_t begin, size_t end) {
      passes_.with([&](SitePass<S>& pass) {
        tiles_.with([&](T& tile) {
          tile.listener = &pass;
          for (size_t j = begin; j < end; ++j) {
            pass.begin(e, before + jobs[j].first, jobs[j].first, jobs[j].count);
            run_streams(tile, jobs[j].first, jobs[j].count, e);
          }
          tile.listener = nullptr;
        });
      });
    });
    std::mutex mutex;
    for (const SiteErrors& site : sites_) {
      const uint32_t first = std::max(before, site.first_stream);
      const uint32_t last = std::min(before + e.batch.streams, site.first_stream + site.streams);
      if (first >= last) continue;
      threads_.split(last - first, [&](size_t begin, size_t end) {
        egg_site_sums sums{};
        site.add_to(sums, first + static_cast<uint32_t>(begin), first + static_cast<uint32_t>(end));
        const std::lock_guard<std::mutex> lock(mutex);
        e.sites[site.number].tokens += sums.tokens;
        e.sites[site.number].squares += sums.squares;
      });
    }
  }

  // All members of a stream of sites have the stream's state.
  void run_streams(T& tile, uint32_t first_stream, uint32_t count, const egg_evaluate& e) {
    std::array<int64_t, T::kMembers> stream_of;
    Buffer<int8_t> states(tile_bytes_);
    std::vector<int8_t> state(plan_.state_bytes);
    for (size_t lane = 0; lane < T::kMembers; ++lane) {
      stream_of[lane] = lane < count ? static_cast<int64_t>(first_stream + lane) : -1;
      if (lane >= count) continue;
      const auto [number, from] = place_of(e.first + (first_stream + lane) * e.members_per_stream);
      take_state(states_.data() + number * tile_bytes_, from, state.data());
      put_state(states.data(), lane, state.data());
    }
    tile.begin(states.data());
    tile.draw_nothing();
    run_tile(tile, e.batch, stream_of);
    for (size_t lane = 0; lane < count; ++lane) {
      take_state(tile.states(), lane, state.data());
      for (size_t i = 0; i < e.members_per_stream; ++i) {
        const size_t member = (first_stream + lane) * e.members_per_stream + i;
        const auto [number, to] = place_of(e.first + member);
        put_state(states_.data() + number * tile_bytes_, to, state.data());
        e.losses[member] = tile.losses[lane];
      }
    }
  }

  void infer_tile(T& tile, size_t first_stream, const egg_infer& call) const {
    const size_t count = std::min(T::kMembers, call.batch.streams - first_stream);
    std::array<int64_t, T::kMembers> stream_of;
    Buffer<int8_t> states(tile_bytes_);
    for (size_t lane = 0; lane < T::kMembers; ++lane) {
      stream_of[lane] = lane < count ? static_cast<int64_t>(first_stream + lane) : -1;
      if (lane < count) put_state(states.data(), lane, call.states + (first_stream + lane) * plan_.state_bytes);
    }
    tile.begin(states.data());
    tile.draw_nothing();
    run_tile(tile, call.batch, stream_of);
    const egg_program& program = *plan_.program;
    const int8_t* logits = tile.at[static_cast<size_t>(program.ops[program.op_count - 1].in[0])];
    for (size_t lane = 0; lane < count; ++lane) {
      const size_t stream = first_stream + lane;
      call.losses[stream] = tile.losses[lane];
      take_state(tile.states(), lane, call.states + stream * plan_.state_bytes);
      if (call.logits == nullptr) continue;
      for (size_t v = 0; v < static_cast<size_t>(program.vocab); ++v) {
        call.logits[stream * static_cast<size_t>(program.vocab) + v] = logits[v / 4 * T::kQuadBytes + 4 * lane + v % 4];
      }
    }
  }

  egg_session_spec spec_;
  Plan plan_;
  NoiseDraw<S> noise_;
  Weights<S> weights_;
  LossTables<S> loss_tables_;
  Model<S> model_;
  Threads threads_;
  std::vector<Slots> slots_;
  std::vector<SiteErrors> sites_;
  Votes<S> votes_;
  uint32_t first_pair_;
  size_t tile_bytes_;
  Buffer<int8_t> states_;  // (tiles, state quads, kMemberRegs) registers
  Idle<T> tiles_;
  Idle<SitePass<S>> passes_;
};

template <class S>
constexpr Engine engine_of(const char* instructions) {
  return {
      instructions, Tile<S>::kMembers,
      [](const egg_session_spec& spec) -> std::unique_ptr<Session> { return std::make_unique<TileSession<S>>(spec); },
      &TileSession<S>::memory};
}

}  // namespace eggroll::tile

#endif
