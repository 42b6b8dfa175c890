// How the warpgroups that share a tile exchange values. Threads of one number in both warpgroups have the same rows and
// the same channels of a block, so each warp waits only for the warp of its number.
#ifndef EGGROLL_CUDA_FUSED_SHARE_CUH
#define EGGROLL_CUDA_FUSED_SHARE_CUH

#include "fused.h"
#include "norm.cuh"

namespace eggroll::cuda {

constexpr uint32_t kGroupThreads = 128;  // in a warpgroup
constexpr uint32_t kTileWarps = kGroupThreads / 32;

// Words of a row. Between two writes of the same word there must be a meeting for another word, so that no thread
// overwrites what another still reads.
enum SharedWord : uint32_t { kOfX, kOfY, kOfOutputs = kOfY + 3, kOfRing };
static_assert(kOfRing + 1 == kSharedWords);

template <uint32_t kGroups>
struct Sharing {
  uint32_t group;  // own
  int32_t* words;  // of the thread's first row: each group and row has kSharedWords

  // This group's first block. Every kGroups-th block from there is the group's too.
  __device__ uint32_t first() const { return kGroups == 1 ? 0 : group; }

  __device__ static uint32_t warp() { return threadIdx.x / 32 % kTileWarps; }

  // Waits for the other group. After it, both see what either wrote before it.
  __device__ void meet() const {
    if constexpr (kGroups > 1) {
      __syncwarp();  // lanes may have diverged
      asm volatile("bar.sync %0, 64;" ::"r"(1 + warp()) : "memory");
    }
  }
  __device__ int32_t& word(uint32_t which, uint32_t of_group, uint32_t h) const {
    return words[(which * kGroups + of_group) * kTileRows + 8 * h];
  }
  __device__ void tell(uint32_t which, const int32_t (&two)[2]) const {
    if constexpr (kGroups > 1) {
      if (threadIdx.x % 4 == 0) {
        word(which, group, 0) = two[0];
        word(which, group, 1) = two[1];
      }
    }
  }
  __device__ int32_t other(uint32_t which, uint32_t h) const { return word(which, 1 - group, h); }

  // Adds up, for each of the two rows, the sums of its threads in all warpgroups.
  template <class... Sums>
  __device__ void add_up(uint32_t which, Sums&... sums) const {
    const auto of_group = [](int32_t(&two)[2]) {
      two[0] = row_sum(two[0]);
      two[1] = row_sum(two[1]);
    };
    (of_group(sums), ...);
    if constexpr (kGroups > 1) {
      uint32_t w = which;
      (tell(w++, sums), ...);
      meet();
      w = which;
      const auto hear = [&](int32_t(&two)[2]) {
        two[0] += other(w, 0);
        two[1] += other(w, 1);
        ++w;
      };
      (hear(sums), ...);
    }
  }

  // Adds up one row over warpgroups. `sum` must be the same in all its threads. Uses the word after `which` too.
  __device__ unsigned long long add_up_row(uint32_t which, uint32_t h, unsigned long long sum) const {
    if constexpr (kGroups == 1) return sum;
    if (threadIdx.x % 4 == 0) {
      word(which, group, h) = static_cast<int32_t>(sum);
      word(which + 1, group, h) = static_cast<int32_t>(sum >> 32);
    }
    meet();
    const auto half = [&](uint32_t w) { return static_cast<unsigned long long>(static_cast<uint32_t>(other(w, h))); };
    return sum + (half(which + 1) << 32 | half(which));
  }
  // Finds for each of the two rows the largest value that any of its threads has.
  __device__ void find_largest(uint32_t which, int32_t (&two)[2]) const {
    two[0] = row_max(two[0]);
    two[1] = row_max(two[1]);
    if constexpr (kGroups > 1) {
      tell(which, two);
      meet();
      two[0] = max(two[0], other(which, 0));
      two[1] = max(two[1], other(which, 1));
    }
  }
};

}  // namespace eggroll::cuda

#endif
