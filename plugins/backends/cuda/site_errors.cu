// The errors of draws within the program. Each block has one place, each thread some of its channels.
#include "device.h"
#include "eggroll/draws.h"
#include "sites.h"
#include "warp.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 128;
constexpr uint32_t kDrawsAtOnce = 256;  // whose differences lie on the chip

__global__ void __launch_bounds__(kThreads) site_errors_kernel(const SiteErrorArgs args, uint32_t n) {
  __shared__ int32_t differences[kDrawsAtOnce];
  __shared__ uint64_t keys[kDrawsAtOnce];  // of independent draws
  const MoveArgs& move = args.move;
  unsigned long long tokens = 0;
  unsigned long long squares = 0;
  for (uint32_t at = blockIdx.x; at < args.places; at += gridDim.x) {
    const bool is_scored = args.targets[at] != EGG_NO_TARGET;
    if (threadIdx.x == 0) {
      args.perturbed[at] = is_scored ? 1 : 0;
      tokens += is_scored ? 1 : 0;
    }
    const uint32_t place = move.place + at;
    const auto key_of = [&](uint32_t draw) {
      return egg_draw_key(move.seed, move.step, move.stream + place / move.tokens, move.number, place % move.tokens,
                          draw);
    };
    const uint64_t key = key_of(0);
    const uint32_t offset = egg_draw_offset(key);
    const size_t first_loss = size_t{at} * 2 * move.draws;
    const auto difference_of = [&](const int64_t* losses, uint32_t draw) {
      return losses[first_loss + 2 * draw + 1] - losses[first_loss + 2 * draw];
    };
    // All threads loop equally often, because they share the differences.
    for (uint32_t first = 0; first < args.error_stride; first += kThreads) {
      const uint32_t channel = first + threadIdx.x;
      int32_t sum = 0;
      for (uint32_t done = 0; is_scored && done < move.draws; done += kDrawsAtOnce) {
        const uint32_t here = min(kDrawsAtOnce, move.draws - done);
        __syncthreads();
        for (uint32_t k = threadIdx.x; k < here; k += kThreads) {
          int64_t difference = difference_of(args.losses, done + k);
          if (args.later != nullptr) difference += difference_of(args.later, done + k);
          const int64_t limit = args.limit;
          differences[k] = static_cast<int32_t>(difference > limit ? limit : difference < -limit ? -limit : difference);
          if (move.orthogonal == 0) keys[k] = key_of(done + k + 1);
        }
        __syncthreads();
        for (uint32_t k = 0; k < here; ++k) {
          const uint32_t draw = done + k;
          const uint32_t bit = move.orthogonal != 0 ? egg_hadamard_bit((draw + offset) & (n - 1), channel)
                                                    : egg_draw_bit(keys[k], channel);
          sum += bit != 0 ? -differences[k] : differences[k];
        }
      }
      if (channel >= args.error_stride) continue;
      if (move.orthogonal != 0 && egg_draw_bit(key, channel) != 0) sum = -sum;
      const int16_t error = channel < move.size ? egg_draw_error(sum, args.shift) : int16_t{0};
      args.errors[size_t{at} * args.error_stride + channel] = error;
      squares += static_cast<unsigned long long>(int32_t{error} * error);
    }
  }
  add_sums(args.sums, tokens, squares);
}

// Each thread makes one entry.
__global__ void __launch_bounds__(kThreads) later_tokens_kernel(const LaterArgs args) {
  const uint32_t count = args.places * args.horizon;
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const uint32_t place = i / args.horizon;
    const uint32_t behind = i % args.horizon + 1;
    const bool is_there = (args.place + place) % args.tokens + behind < args.tokens;
    const size_t entry = size_t{place} + behind;
    args.later_inputs[i] = is_there ? args.inputs[entry] : 0;
    args.later_targets[i] = is_there ? args.targets[entry] : EGG_NO_TARGET;
    args.later_resets[i] = is_there ? args.resets[entry] : uint8_t{0};
    for (uint32_t k = 0; k < args.index_count; ++k) {
      const size_t row = entry * args.index_count + k;
      args.later_rows[size_t{i} * args.index_count + k] = is_there ? args.row_numbers[row] : EGG_NO_ROW;
    }
  }
}

}  // namespace

void launch_later_tokens(const LaterArgs& args, cudaStream_t stream) {
  constexpr uint32_t kMostBlocks = 132 * 8;
  const uint32_t blocks = std::min(divide_up(args.places * args.horizon, kThreads), kMostBlocks);
  later_tokens_kernel<<<blocks, kThreads, 0, stream>>>(args);
  check_launch("bring tokens");
}

void launch_site_errors(const SiteErrorArgs& args, cudaStream_t stream) {
  constexpr uint32_t kMostBlocks = 132 * 16;
  site_errors_kernel<<<std::min(args.places, kMostBlocks), kThreads, 0, stream>>>(args,
                                                                                  1U << egg_log2_up(args.move.size));
  check_launch("add up errors");
}

}  // namespace eggroll::cuda
