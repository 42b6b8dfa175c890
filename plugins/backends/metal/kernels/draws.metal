// Draws of a place at the logits, as eggroll/logit_draws.h has them for processors: orthogonal ones by two Hadamard
// transforms, independent ones one by one. A simdgroup has a place, and its values lie in threadgroup memory.
#include <metal_stdlib>

#include "draw.h"
#include "float32.h"
#include "site_layout.h"

// Multiplies 2^log2_n values by the Hadamard matrix. A lane has every 32nd of them, before and after.
inline void hadamard_transform(threadgroup int32_t* values, uint32_t log2_n, uint32_t lane) {
  for (uint32_t stage = 0; stage <= log2_n; ++stage) {
    // From stage 5 on a lane adds up its own.
    if (stage <= 5) simdgroup_barrier(mem_flags::mem_threadgroup);
    if (stage == log2_n) break;
    const uint32_t half_size = 1u << stage;
    for (uint32_t i = lane; i < 1u << (log2_n - 1); i += kLanes) {
      const uint32_t at = ((i >> stage) << (stage + 1)) + (i & (half_size - 1));
      const int32_t a = values[at];
      const int32_t b = values[at + half_size];
      values[at] = a + b;
      values[at + half_size] = a - b;
    }
  }
}
static_assert(kLanes == 1 << 5, "a lane has every 32nd value");

// egg_log2_q16 of a sum that is not 0, which is looked up without a search for its leading bit.
inline int32_t log2_of(uint32_t sum, device const uint32_t* log2_q24) {
  const int32_t zeros = leading_zeros(uint64_t(sum));
  return egg_log2_q16(uint64_t(sum) << zeros, log2_q24) - zeros * 65536;
}

// A draw's difference of losses. delta: its sum; moved: by which it moves the target's logit.
inline int32_t difference_of(uint32_t both, uint32_t delta, int32_t moved, int32_t limit,
                             device const uint32_t* log2_q24) {
  return egg_clip(log2_of((both - delta) / 2, log2_q24) - log2_of((both + delta) / 2, log2_q24) + moved, limit);
}

// loss_tables: the loss's own, then one whose exponentials are those of draws.
EGG_KERNEL draws(EGG_ARGUMENTS(DrawArgs), EGG_BUFFER(const egg_loss_tables, loss_tables, kBindLossTables),
                 EGG_BUFFER(const uint32_t, targets, kBindTargets), EGG_BUFFER(const int8_t, kept, kBindKept),
                 EGG_BUFFER(uint8_t, errors, kBindErrors), EGG_THREAD) {
  const uint32_t place = args.first + group * args.at_once + simdgroup;
  if (simdgroup >= args.at_once || place >= args.end) return;
  device uint8_t* row = errors + args.first_error + uint64_t(place) * args.error_bytes;
  device int16_t* error = reinterpret_cast<device int16_t*>(row);
  device uint64_t* squares = reinterpret_cast<device uint64_t*>(row + args.error_bytes - kSquareBytes);
  const uint32_t padded_size = padded(args.size, kBlock);
  const uint32_t target = targets[args.first_target + place];
  if (target == 0xffffffffu) {  // EGG_NO_TARGET
    for (uint32_t i = lane; i < padded_size; i += kLanes) error[i] = 0;
    if (lane == 0) *squares = 0;
    return;
  }
  const uint32_t n = 1u << args.log2_n;
  const bool orthogonal = args.orthogonal != 0;
  threadgroup int32_t* values = reinterpret_cast<threadgroup int32_t*>(scratch) + simdgroup * (orthogonal ? n : 2 * n);
  device const int8_t* logits = kept + uint64_t(args.first_kept + place) * args.kept_bytes + args.logits;
  device const uint32_t* exp2_of = &loss_tables[1].exp2_q30[0];
  device const uint32_t* log2_q24 = &loss_tables[1].log2_q24[0];
  const Places places = own(args.places);
  const uint64_t key = place_key(places, place, 0);

  int32_t largest = -127;
  for (uint32_t i = lane; i < args.size; i += kLanes) largest = max(largest, static_cast<int32_t>(logits[i]));
  const int32_t top = egg_clip8(simd_max(largest) + args.amplitude);
  uint32_t both = 0;
  for (uint32_t i = lane; i < n; i += kLanes) {
    int32_t value = 0;
    if (i < args.size) {
      const uint32_t plus = exp2_of[top - egg_clip8(logits[i] + args.amplitude)];
      const uint32_t minus = exp2_of[top - egg_clip8(logits[i] - args.amplitude)];
      both += plus + minus;
      value = static_cast<int32_t>(orthogonal && egg_draw_bit(key, i) != 0 ? minus - plus : plus - minus);
    }
    values[i] = value;
  }
  both = simd_sum(both);

  const int32_t own_logit = logits[target];
  const int32_t steps = egg_clip8(own_logit + args.amplitude) - egg_clip8(own_logit - args.amplitude);
  const int32_t moved = steps * args.unit;
  const int32_t limit = egg_draw_limit(args.draws);
  threadgroup int32_t* totals = values;
  if (orthogonal) {
    hadamard_transform(values, args.log2_n, lane);
    const uint32_t offset = egg_draw_offset(key);
    const uint32_t target_bit = egg_draw_bit(key, target);
    for (uint32_t i = lane; i < n; i += kLanes) {
      const int32_t of_target = (egg_hadamard_bit(i, target) ^ target_bit) != 0 ? -moved : moved;
      const bool drawn = ((i - offset) & (n - 1)) < args.draws;
      values[i] = drawn ? difference_of(both, static_cast<uint32_t>(values[i]), of_target, limit, log2_q24) : 0;
    }
    hadamard_transform(values, args.log2_n, lane);
    for (uint32_t i = lane; i < args.size; i += kLanes) values[i] = egg_draw_bit(key, i) != 0 ? -values[i] : values[i];
  } else {
    totals += n;
    for (uint32_t i = lane; i < args.size; i += kLanes) totals[i] = 0;
    for (uint32_t draw = 1; draw <= args.draws; ++draw) {
      const uint64_t its_key = place_key(places, place, draw);
      int32_t delta = 0;
      for (uint32_t i = lane; i < args.size; i += kLanes)
        delta += egg_draw_bit(its_key, i) != 0 ? -values[i] : values[i];
      const int32_t of_target = egg_draw_bit(its_key, target) != 0 ? -moved : moved;
      const int32_t d = difference_of(both, static_cast<uint32_t>(simd_sum(delta)), of_target, limit, log2_q24);
      for (uint32_t i = lane; i < args.size; i += kLanes) totals[i] += egg_draw_bit(its_key, i) != 0 ? -d : d;
    }
  }

  uint64_t sum = 0;
  for (uint32_t i = lane; i < padded_size; i += kLanes) {
    const int32_t found = i < args.size ? egg_draw_error(totals[i], args.shift) : 0;
    error[i] = static_cast<int16_t>(found);
    sum += static_cast<uint64_t>(found * found);
  }
  sum = sum_of_lanes(sum);
  if (lane == 0) *squares = sum;
}

// Errors of draws within the program, from the losses of their members: a simdgroup has a place. losses: at the end of
// records, (places, draws, 2).
EGG_KERNEL site_errors(EGG_ARGUMENTS(SiteErrorArgs), EGG_BUFFER(const uint32_t, targets, kBindTargets),
                       EGG_BUFFER(const int64_t, losses, kBindStates), EGG_BUFFER(uint8_t, errors, kBindErrors),
                       EGG_THREAD) {
  const uint32_t place = args.first + group * kSimdgroups + simdgroup;
  if (place >= args.end) return;
  device uint8_t* row = errors + args.first_error + uint64_t(place) * args.error_bytes;
  device int16_t* error = reinterpret_cast<device int16_t*>(row);
  const Places places = own(args.places);
  const uint64_t key = place_key(places, place, 0);
  const uint32_t offset = egg_draw_offset(key);
  const int64_t limit = egg_draw_limit(args.draws);
  const uint32_t stride = args.record_bytes / 8;
  device const int64_t* loss = losses + (uint64_t(place) * args.draws * 2 + 1) * stride - kLossBytes / 8;
  const bool scored = targets[args.first_target + place] != 0xffffffffu;  // EGG_NO_TARGET
  uint64_t squares = 0;
  for (uint32_t i = lane; i < padded(args.size, kBlock); i += kLanes) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < args.draws && scored && i < args.size; ++k) {
      const int64_t difference = loss[uint64_t(2 * k + 1) * stride] - loss[uint64_t(2 * k) * stride];
      const int32_t d = static_cast<int32_t>(min(limit, max(-limit, difference)));
      const uint32_t bit = args.orthogonal != 0 ? egg_hadamard_bit((k + offset) & args.row_mask, i)
                                                : egg_draw_bit(place_key(places, place, k + 1), i);
      sum += bit != 0 ? -d : d;
    }
    if (args.orthogonal != 0 && egg_draw_bit(key, i) != 0) sum = -sum;
    const int32_t found = egg_draw_error(sum, args.shift);
    error[i] = static_cast<int16_t>(found);
    squares += static_cast<uint64_t>(found * found);
  }
  squares = sum_of_lanes(squares);
  if (lane == 0) *reinterpret_cast<device uint64_t*>(row + args.error_bytes - kSquareBytes) = squares;
}
