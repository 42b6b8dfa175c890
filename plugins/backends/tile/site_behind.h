// Draws at a value within the model. For each draw, all that depends on the value is computed again, in a tile whose
// lanes are draws of one stream and token. The rest is copied to the tile from the stream.
#ifndef EGGROLL_TILE_SITE_BEHIND_H
#define EGGROLL_TILE_SITE_BEHIND_H

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "eggroll/site_errors.h"
#include "forward.h"

namespace eggroll::tile {

// The data that one thread needs for one site.
template <class S>
class SiteBehind {
 public:
  SiteBehind(const Model<S>& model, SiteErrors& site)
      : site_(site),
        program_(*model.plan.program),
        tile_(model),
        behind_(ops_behind(program_, site.site.value, site.site.horizon > 0)),
        quads_(model.plan.room),
        limit_(egg_draw_limit(site.site.draws)),
        rows_(UINT32_C(1) << egg_log2_up(site.size)),
        is_wide_(model.plan.is_wide(site.site.value)),
        channel_bytes_(is_wide_ ? 4 : 1),
        base_(rows_ * channel_bytes_),
        moved_(base_.size()),
        token_signs_(rows_),
        sums_(site.size) {
    for (const uint32_t value : behind_.sources) {
      const size_t bytes = quads_[value] * T::kQuadBytes;
      streams_.push_back(Buffer<int8_t>(is_state(program_, static_cast<int32_t>(value)) ? 0 : bytes));
      draws_.push_back(Buffer<int8_t>(bytes));
      tile_.at[value] = draws_.back().data();
    }
    for (Buffer<int8_t>& each : signs_) each = Buffer<int8_t>(rows_);
    states_ = Buffer<int8_t>(model.plan.state_quads * T::kQuadBytes);
  }

  static uint64_t bytes(const Plan& plan, const SiteShape& site) {
    uint64_t bytes = T::bytes(plan) + plan.state_quads * T::kQuadBytes + size_t{2} * site.size * (T::kPairs + 11);
    for (const uint32_t value : ops_behind(*plan.program, site.site.value, true).sources) {
      bytes += 2 * plan.room[value] * T::kQuadBytes;
    }
    return bytes;
  }

  // Must be called before a step's draws, because the weights may have changed.
  void begin() { tile_.draw_nothing(); }

  // Keeps the op's value, if draws read it.
  void after(const Tile<S>& streams, uint32_t op) {
    const int32_t out = program_.ops[op].out;
    for (size_t i = 0; i < behind_.sources.size(); ++i) {
      if (static_cast<int32_t>(behind_.sources[i]) != out || streams_[i].size() == 0) continue;
      std::copy_n(streams.at[behind_.sources[i]], streams_[i].size(), streams_[i].data());
    }
  }

  // The error of a lane's stream at the token that has just run. stream: of the step; in_batch: of the batch.
  void find_error(const Tile<S>& streams, uint32_t lane, uint32_t stream, uint32_t in_batch, const egg_evaluate& e,
                  uint64_t seed, int16_t* error) {
    const auto token = static_cast<uint32_t>(streams.now->position);
    const egg_site& site = site_.site;
    const bool orthogonal = site.design == EGG_DRAWS_ORTHOGONAL;
    const uint64_t key = site_.key(seed, e.step, stream, token, 0);
    const uint32_t offset = egg_draw_offset(key);
    fill_signs(key, token_signs_.data());
    stream_of_.fill(in_batch);
    bring(streams, lane);
    bring_caches(streams, lane);
    // The value is the first that draws read.
    T::take_lane(streams_[0].data(), lane, site_.size * channel_bytes_, base_.data());
    std::fill(sums_.begin(), sums_.end(), 0);
    first_visible_ = streams.now->first_visible[lane];
    read_own(token, e.batch);
    for (uint32_t first = 0; first < site.draws; first += T::kPairs) {
      const uint32_t count = std::min<uint32_t>(T::kPairs, site.draws - first);
      if (first > 0 && site.horizon > 0) bring(streams, lane);
      for (uint32_t p = 0; p < count; ++p) {
        if (orthogonal) {
          fill_row((first + p + offset) & (rows_ - 1), token_signs_.data(), signs_[p].data());
        } else {
          fill_signs(site_.key(seed, e.step, stream, token, first + p + 1), signs_[p].data());
        }
        perturb(p);
      }
      run(token, e.batch);
      for (uint32_t p = 0; p < count; ++p) {
        const size_t at = T::lane_of(p, 0);
        const int64_t d = tile_.losses[at + S::kLanes] - tile_.losses[at];
        add(static_cast<int32_t>(std::clamp<int64_t>(d, -limit_, limit_)), signs_[p].data(), site_.size, sums_.data());
      }
    }
    for (uint32_t i = 0; i < site_.size; ++i) error[i] = egg_draw_error(sums_[i], site.shift);
  }

 private:
  using T = Tile<S>;

  // Copies all that draws read of the stream to all lanes.
  void bring(const Tile<S>& streams, uint32_t lane) {
    for (size_t i = 0; i < behind_.sources.size(); ++i) {
      const uint32_t value = behind_.sources[i];
      spread(streams_[i].size() > 0 ? streams_[i].data() : streams.at[value], lane, quads_[value], draws_[i].data());
    }
    if (site_.site.horizon == 0) return;
    for (const PlanState& s : streams.model.plan.tile_states) {
      spread(streams.next[s.value], lane, s.quads, states_.data() + s.quads_before * T::kQuadBytes);
    }
  }
  // Copies the stream's keys and values up to its token. A draw that changes its own key and value overwrites those.
  void bring_caches(const Tile<S>& streams, uint32_t lane) {
    const Plan& plan = streams.model.plan;
    const auto begin = static_cast<size_t>(streams.now->first_visible[lane]);
    const size_t end = streams.now->position + 1;
    for (uint32_t i = 0; i < program_.op_count; ++i) {
      if (program_.ops[i].code != EGG_OP_ATTENTION) continue;
      const auto out = static_cast<size_t>(program_.ops[i].out);
      const auto bring_quads = [&](size_t first, size_t count) {
        spread(streams.cache.data() + first * T::kQuadBytes, lane, count, tile_.cache.data() + first * T::kQuadBytes);
      };
      const size_t quads = plan.quads[out];
      bring_quads(plan.caches[out].keys + begin * quads, (end - begin) * quads);
      const size_t first_four = begin / 4;  // values lie in groups of four positions
      bring_quads(plan.caches[out].values + first_four * 4 * quads, ((end + 3) / 4 - first_four) * 4 * quads);
    }
  }
  static void spread(const int8_t* from, uint32_t lane, size_t quads, int8_t* to) {
    for (size_t g = 0; g < quads; ++g) {
      const auto four = S::broadcast(from + g * T::kQuadBytes + 4 * lane);
      for (size_t m = 0; m < T::kRegs; ++m) S::store(to + (g * T::kRegs + m) * S::kBytes, four);
    }
  }

  // Makes signs of the noise under the key.
  void fill_signs(uint64_t key, int8_t* signs) const {
    for (uint32_t i = 0; i < rows_; i += 32) {
      const uint32_t word = egg_noise_word(key, i >> 5);
      for (uint32_t j = 0; j < std::min(32U, rows_ - i); ++j)
        signs[i + j] = static_cast<int8_t>((word >> j & 1) != 0 ? -1 : 1);
    }
  }

  // Makes a row of the Hadamard matrix times the token's signs. The row's halves are equal or opposite at each size.
  void fill_row(uint32_t row, const int8_t* __restrict token, int8_t* __restrict signs) const {
    const uint32_t rows = rows_;
    signs[0] = 1;
    for (uint32_t half = 1; half < rows; half *= 2) {
      const auto sign = static_cast<int8_t>((row & half) != 0 ? -1 : 1);
      for (uint32_t i = 0; i < half; ++i) signs[half + i] = static_cast<int8_t>(signs[i] * sign);
    }
    for (uint32_t i = 0; i < rows; ++i) signs[i] = static_cast<int8_t>(signs[i] * token[i]);
  }

  // Perturbs both members of a pair.
  void perturb(uint32_t pair) {
    for (size_t side = 0; side < 2; ++side) {
      const int32_t amplitude = side == 0 ? site_.site.amplitude : -site_.site.amplitude;
      if (is_wide_) {
        move_wide(base_.data(), signs_[pair].data(), amplitude, site_.size, moved_.data());
      } else {
        move(base_.data(), signs_[pair].data(), amplitude, rows_, moved_.data());
      }
      scatter(moved_.data(), T::lane_of(pair, side));
    }
  }
  // Sizes are passed by value: what lies in memory might be what is written.
  static void move(const int8_t* __restrict base, const int8_t* __restrict signs, int32_t amplitude, uint32_t size,
                   int8_t* __restrict to) {
    const auto step = static_cast<int16_t>(amplitude);
    for (uint32_t i = 0; i < size; ++i) {
      const auto moved = static_cast<int16_t>(base[i] + signs[i] * step);
      to[i] = static_cast<int8_t>(std::clamp<int16_t>(moved, -127, 127));
    }
  }
  // base, to: int32.
  static void move_wide(const int8_t* __restrict base, const int8_t* __restrict signs, int32_t amplitude, uint32_t size,
                        int8_t* __restrict to) {
    for (uint32_t i = 0; i < size; ++i) {
      int32_t value;
      std::memcpy(&value, base + sizeof value * i, sizeof value);
      value += signs[i] * amplitude;
      std::memcpy(to + sizeof value * i, &value, sizeof value);
    }
  }
  void scatter(const int8_t* from, size_t lane) {
    int8_t* const to = draws_[0].data() + 4 * lane;
    const size_t bytes = size_t{site_.size} * channel_bytes_;
    const size_t whole = bytes / 4;
    for (size_t g = 0; g < whole; ++g) std::memcpy(to + g * T::kQuadBytes, from + 4 * g, 4);
    if (bytes % 4 != 0) std::memcpy(to + whole * T::kQuadBytes, from + 4 * whole, bytes % 4);
  }

  static void add(int32_t d, const int8_t* __restrict signs, uint32_t size, int32_t* __restrict sums) {
    for (uint32_t i = 0; i < size; ++i) sums[i] += d * signs[i];
  }

  // Runs what depends on the value at its token, then the whole tokens of the horizon.
  void run(uint32_t token, const egg_batch& batch) {
    const Plan& plan = tile_.model.plan;
    tile_.losses.fill(0);
    tile_.now = &tile_.inputs[0];
    for (const PlanState& s : plan.tile_states) tile_.next[s.value] = states_.data() + s.quads_before * T::kQuadBytes;
    for (const uint32_t op : behind_.ops) run_op(op);
    const uint32_t last = std::min(batch.tokens - 1, token + site_.site.horizon);
    if (last == token) return;
    std::array<int8_t*, 2> of_states = {states_.data(), tile_.state[0].data()};
    for (uint32_t t = token + 1; t <= last; ++t) {
      read(t, batch);
      for (const PlanState& s : plan.tile_states) {
        tile_.at[s.value] = of_states[0] + s.quads_before * T::kQuadBytes;
        tile_.next[s.value] = of_states[1] + s.quads_before * T::kQuadBytes;
      }
      tile_.begin_part(plan.parts.front(), 0);
      for (uint32_t op = 0; op < program_.op_count; ++op) run_op(op);
      std::swap(of_states[0], of_states[1]);
    }
    for (size_t i = 0; i < behind_.sources.size(); ++i) tile_.at[behind_.sources[i]] = draws_[i].data();
    read_own(token, batch);
  }
  void run_op(uint32_t op) { Kernels<S>::kAll[program_.ops[op].code](tile_, program_.ops[op]); }
  // Sets what the draws read at their own token.
  void read_own(uint32_t token, const egg_batch& batch) {
    read(token, batch);
    tile_.inputs[0].first_visible.fill(first_visible_);
    tile_.inputs[0].oldest_visible = static_cast<size_t>(first_visible_);
  }
  void read(uint32_t token, const egg_batch& batch) {
    read_token<S>(batch, token, stream_of_, program_.index_count, tile_.inputs[0], tile_.inputs[0]);
  }

  SiteErrors& site_;
  const egg_program& program_;
  T tile_;
  OpsBehind behind_;
  std::vector<uint32_t> quads_;  // of each value
  int64_t limit_;
  uint32_t rows_;                        // of the Hadamard matrix
  bool is_wide_;                         // the value
  uint32_t channel_bytes_;               // of the value
  std::vector<Buffer<int8_t>> streams_;  // the values that draws read, as streams have them; empty for states
  std::vector<Buffer<int8_t>> draws_;    // the same values, as draws have them
  Buffer<int8_t> states_;                // after the token
  Buffer<int8_t> base_;                  // the value, as the stream has it
  Buffer<int8_t> moved_;                 // the value, as a draw has it
  Buffer<int8_t> token_signs_;
  std::vector<int32_t> sums_;
  std::array<Buffer<int8_t>, T::kPairs> signs_;
  std::array<int64_t, T::kMembers> stream_of_{};
  int32_t first_visible_ = 0;  // the first position that the stream's attention sees
};

}  // namespace eggroll::tile

#endif
