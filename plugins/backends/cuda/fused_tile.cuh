// A tile of the fused forward pass as one of its threads sees it, and the steps that fused ops are made of.
#ifndef EGGROLL_CUDA_FUSED_TILE_CUH
#define EGGROLL_CUDA_FUSED_TILE_CUH

#include "fused_math.cuh"
#include "fused_ring.cuh"
#include "fused_share.cuh"
#include "mma.cuh"

namespace eggroll::cuda {

// It is the same in all lanes, which the compiler cannot know without the shuffle.
__device__ inline uint32_t own_group() { return __shfl_sync(0xffffffffu, threadIdx.x / kGroupThreads, 0); }

// Where a value lies in a tile's; each block of 64 channels in 16 bytes for each thread of even and then of odd rows.
enum FusedValue : uint32_t { kX, kScratch };

// A value of kBlocks blocks, as the tensor cores take it from a thread's registers: word w of its unit of block b, of
// row h of its pair, is of[8 b + 2 w + h].
template <uint32_t kBlocks>
struct Fragment {
  uint32_t of[8 * kBlocks];

  __device__ uint4 unit(uint32_t b, uint32_t h) const {
    const uint32_t* own = &of[8 * b + h];
    return make_uint4(own[0], own[2], own[4], own[6]);
  }
};

// Calls change(block, its words) for each block. The code is there once: blocks take turns in the same registers.
template <uint32_t kBlocks, class Change>
__device__ __forceinline__ void each_block(Fragment<kBlocks>& x, Change&& change) {
#pragma unroll 1
  for (uint32_t b = 0; b < kBlocks; ++b) {
    uint32_t block[8];
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) block[i] = x.of[i];
    change(b, block);
#pragma unroll
    for (uint32_t i = 8; i < 8 * kBlocks; ++i) x.of[i - 8] = x.of[i];
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) x.of[8 * (kBlocks - 1) + i] = block[i];
  }
}

// Blocks of noise one after the other, two a stage.
struct NoiseBlocks {
  uint4 next = {};
  bool has_next = false;

  template <class T>
  __device__ __forceinline__ uint4 take(T& tile) {
    uint4 block = next;
    if (!has_next) tile.take_noise(block, next);
    has_next = !has_next;
    return block;
  }
};

// Where q of several ranks lies: for a GRU's state (later its gated state), forget gate and candidate; for an MLP's
// linears; or for a head's linear.
enum MoreOf : uint32_t { kOfState, kOfForget, kOfCandidate, kOfFirst = 0, kOfSecond };

// kMore: a side has several draws. If rows are tokens, kMore is false and kGroups 1. In a span two warps hold the
// even member's tokens, and two hold the odd member's. A thread of short windows has the same token of both members of
// a pair.
template <uint32_t kBlocks, uint32_t kGroups, bool kMore, Rows kRows>
struct FusedTile {
  static constexpr Rows kWhat = kRows;
  static constexpr bool kTokens = has_tokens(kRows);
  // The most blocks that a warpgroup owns.
  static constexpr uint32_t kMostOwn = (kBlocks + kGroups - 1) / kGroups;
  // Whether gates' products begin ahead. In a loop that is not fully unrolled the compiler would wait for each at once.
  static constexpr bool kAhead = kGroups > 1 && kBlocks % kGroups == 0;
  // In how many parts a thread works on a product of 64 outputs, and its sums of one.
  static constexpr int kParts = is_halved(kBlocks, kGroups, kMore, kTokens) ? 2 : 1;
  static constexpr int kPartSums = 32 / kParts;

  const FusedArgs& args;
  Sharing<kGroups> sharing;
  uint4* values;       // the thread's own unit of the first block
  uint4* state;        // likewise
  const uint4* noise;  // its own unit of the ring's first block
  const uint32_t* exponentials;
  const int32_t* reciprocals;
  int64_t* losses;   // of the thread's rows: [0] and [8]
  char* rings;       // of weights, of all warpgroups
  int32_t* more;     // q of several ranks, of the thread's first row; only if kMore
  uint32_t weights;  // description of the own ring's first stage
  RingPlace stage;
  RingPlace noise_stage;
  uint32_t read_stage;      // of noise, whose reading has not been told yet
  uint32_t number;          // of the tile in the launch
  int32_t rounding;         // of what becomes raised
  int32_t fallen_rounding;  // of what becomes fallen
  int32_t magnitudes[2];    // of x, of the thread's own channels
  // Where rows are tokens:
  const char* look_up;  // the first entry of the lane's copy of a lut
  const int32_t* weights_of_scores;
  char* caches;             // the tile's: keys and values
  uint4* logits;            // the thread's own unit of the first block of logits
  const uint4* next_noise;  // the thread's own unit of what take_noise is to take

  // Block number i of the group, and whether the group has one of that number.
  __device__ uint32_t own_block(uint32_t i) const { return sharing.first() + kGroups * i; }
  __device__ bool owns(uint32_t i) const { return (i + 1) * kGroups <= kBlocks || own_block(i) < kBlocks; }

  __device__ static uint32_t thread() { return threadIdx.x % kGroupThreads; }
  __device__ static uint32_t quarter() { return threadIdx.x % 4; }
  __device__ static uint32_t row(uint32_t h) { return thread() / 32 * 16 + threadIdx.x % 32 / 4 + 8 * h; }

  // Rows beyond the last row read what the last row reads, and write nothing.
  __device__ uint32_t index_of(uint32_t h) const {
    const uint32_t r = row(h);
    if constexpr (kRows == Rows::kSpan) return 2 * number + odd();
    if constexpr (kRows == Rows::kWindows) return 2 * (number * tile_pairs(args.shape) + own_pair()) + h;
    if (args.paired == 0) return number * kTileRows + r;
    return (number * kTilePairs + r / 16 * 8 + r % 8) * 2 + h;
  }
  __device__ bool is_real(uint32_t h) const { return index_of(h) < args.rows; }
  __device__ uint32_t member(uint32_t h) const { return min(index_of(h), args.rows - 1); }
  __device__ size_t entry(uint32_t h, uint32_t step) const {
    return size_t{(args.first + member(h)) / args.members_per_stream} * args.tokens + token(h, step);
  }
  __device__ static uint32_t odd() {
    return thread() / (kGroupThreads / 2);
  }  // whether a span's thread has the odd member
  // A warp of short windows has eight tokens of even members and those of their pairs' odd ones.
  __device__ uint32_t own_pair() const { return thread() / 4 >> __popc(args.shape.span - 1); }  // a power of two
  // Where rows are tokens there may be positions beyond the last.
  __device__ uint32_t position(uint32_t h, uint32_t step) const {
    if constexpr (kRows == Rows::kWindows) return thread() / 4 & (args.shape.span - 1);
    return kTokens ? step * kSpan + row(h) % kSpan : step;
  }
  __device__ uint32_t token(uint32_t h, uint32_t step) const {
    return kTokens ? min(position(h, step), args.tokens - 1) : step;
  }
  __device__ uint32_t target(uint32_t h, uint32_t step) const {
    return !kTokens || position(h, step) < args.tokens ? args.targets[entry(h, step)] : EGG_NO_TARGET;
  }
  // Whether row h has the logits after the last token.
  __device__ bool gives_logits(uint32_t h, uint32_t step) const {
    return position(h, step) + 1 == args.tokens && is_real(h);
  }
  // Waits for the tile's other warps.
  __device__ static void meet() {
    __syncwarp();  // lanes may have diverged
    asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / kGroupThreads), "n"(kGroupThreads) : "memory");
  }
  // 1: the perturbation is subtracted.
  __device__ static uint32_t is_odd(uint32_t h) { return kRows == Rows::kSpan ? odd() : h; }
  // The pair's noise, and its number there.
  __device__ const int8_t* noise_of_tile() const {
    if constexpr (kTokens) return args.noise + first_pair() / kTilePairs * args.tile_noise;
    const uint32_t in_launch = args.tile_noise == 0 ? 0 : min(number, divide_up(args.rows, kTileRows) - 1);
    return args.noise + in_launch * args.tile_noise;
  }
  __device__ uint32_t pair() const {
    if constexpr (kTokens) return first_pair() % kTilePairs + (kRows == Rows::kWindows ? own_pair() : 0);
    return thread() / 4;
  }
  __device__ uint32_t first_pair() const { return number * (kRows == Rows::kWindows ? tile_pairs(args.shape) : 1); }
  // The thread's own part of a state.
  __device__ uint4* state_of(uint32_t h, uint32_t offset) const {
    return reinterpret_cast<uint4*>(args.states + member(h) * args.state_stride + offset) + quarter();
  }

  __device__ uint4& unit(FusedValue v, uint32_t block, uint32_t h) const {
    return values[((v * kBlocks + block) * 2 + h) * kGroupThreads];
  }
  __device__ uint4& logit_unit(uint32_t block, uint32_t h) const {
    return (kTokens ? logits : values)[(block * 2 + h) * kGroupThreads];
  }
  __device__ uint4& state_unit(uint32_t block, uint32_t h) const { return state[(block * 2 + h) * kGroupThreads]; }

  // ---- Noise: two blocks at a time ----
  __device__ __forceinline__ void await_noise() const {
    if constexpr (!kTokens) wait_for(noise_stage.filled, noise_stage.phase);
  }
  // Reads the noise that has come.
  __device__ __forceinline__ void load_noise(uint4& a, uint4& b) {
    if constexpr (kTokens) {
      a = next_noise[0];
      b = next_noise[noise_block()];
      next_noise += 2 * noise_block();
      return;
    }
    const uint4* own = noise + noise_stage.behind() * (kNoiseStage / kUnit / 16);
    a = own[0];
    b = own[kNoiseBlock / kUnit];
    // A stage is told to be free when the next is read, by each thread for itself. The address depends on what the
    // loads have brought: else the arrival might overtake one, and the copy engine write anew what has not been read
    // yet.
    set_free(read_stage);
    read_stage = noise_stage.filled + ((a.x ^ b.x) & args.nothing);
    noise_stage.advance();
  }
  __device__ __forceinline__ void take_noise(uint4& a, uint4& b) {
    await_noise();
    load_noise(a, b);
  }
  // Steps back to the noise that is taken a second time. A ring of stages brings it again by itself.
  __device__ __forceinline__ void take_noise_again() {
    if constexpr (kTokens) next_noise -= args.feeds[0].repeated_noise_stages * 2 * noise_block();
  }
  // 16 channels of a vector as both rows' members see it.
  __device__ __forceinline__ void take_vector(uint4 (&of_rows)[2]) {
    if constexpr (kRows == Rows::kSpan) {
      of_rows[0] = of_rows[1] = next_noise[odd() * noise_block()];
      next_noise += 2 * noise_block();
    } else {
      take_noise(of_rows[0], of_rows[1]);
    }
  }
  // Units of a block of the noise of a tile's pairs.
  __device__ uint32_t noise_block() const {
    return (kRows == Rows::kWindows ? tile_pairs(args.shape) : 1) * (kBlock / kUnit);
  }
  // A stage holds the noise of a whole op.
  __device__ __forceinline__ const uint4* await_noise_of_op() const {
    wait_for(noise_stage.filled, noise_stage.phase);
    return noise + noise_stage.behind() / 16 * (args.shape.noise_slot / kUnit);
  }
  // Each thread arrives for itself, after its reads. Without the fence an arrival may overtake a load, and the copy
  // engine overwrite unread data. It happened once in 500 evaluations; docs/notes/cuda.md says how it was found.
  __device__ __forceinline__ void leave_noise() {
    publish_to_async();
    set_free(noise_stage.filled);
    noise_stage.advance();
  }

  // ---- Products of weights that have arrived. Each product returns their place's barrier, for leave_weights() once
  // they have been read. ----
  // Description of the weights at a place of the own ring.
  __device__ uint32_t weights_at(const RingPlace& place) const {
    return weights + place.behind() * (fused_stage_bytes(kBlocks) / 16 >> 4);
  }
  __device__ void await_weights() const { wait_for(stage.filled, stage.phase); }
  // Waits for the weights of two products.
  __device__ void await_both_weights() const {
    RingPlace next = stage;
    next.advance();
    wait_for(stage.filled, stage.phase, next.filled, next.phase);
  }
  // 64 outputs.
  __device__ uint32_t multiply(const Fragment<kBlocks>& x, int32_t (&sums)[32]) {
    const uint32_t w = weights_at(stage);
    order_products();
    begin_product(sums, &x.of[0], w);
#pragma unroll
    for (uint32_t k = 1; k < 2 * kBlocks; ++k) add_product(sums, &x.of[4 * k], w + k * (2 * kBlock * kUnit >> 4));
    commit_products();
    const uint32_t filled = stage.filled;
    stage.advance();
    return filled;
  }
  // A part of 64 outputs, of the weights in a stage that has arrived.
  __device__ uint32_t multiply_part(const Fragment<kBlocks>& x, int32_t (&sums)[16], const RingPlace& from, int part) {
    constexpr uint32_t kHalf = kBlock / 2 * kUnit >> 4;
    const uint32_t w = weights_at(from) + static_cast<uint32_t>(part) * kHalf;
    order_products();
    begin_product(sums, &x.of[0], w);
#pragma unroll
    for (uint32_t k = 1; k < 2 * kBlocks; ++k) add_product(sums, &x.of[4 * k], w + k * (2 * kBlock * kUnit >> 4));
    commit_products();
    return from.filled;
  }
  // 64 inputs, added to all outputs.
  __device__ uint32_t multiply(const Fragment<1>& u, int32_t (&sums)[kBlocks][32]) {
    constexpr uint32_t kPlaneUnits = kBlocks * kBlock;
    const uint32_t w = weights_at(stage) + ((kPlaneUnits - kBlock) << 16);
    order_products();
#pragma unroll
    for (uint32_t k = 0; k < 2; ++k) add_wide_product(sums, &u.of[4 * k], w + k * 2 * kPlaneUnits);
    commit_products();
    const uint32_t filled = stage.filled;
    stage.advance();
    return filled;
  }
  // filled: the barrier that the product returned.
  __device__ static void leave_weights(uint32_t filled) {
    if (threadIdx.x % 32 == 0) set_free(filled, 32);  // for its warp
  }
  // Used if the block's other tiles take weights and this one has no work.
  __device__ void pass_by_weights(uint32_t stages) {
    for (; stages > 0; --stages) {
      await_weights();
      leave_weights(stage.filled);
      stage.advance();
    }
  }

  // ---- Sums of all outputs, of which each group has a part ----
  // Adds the other group's part to the sums of the own blocks, of which number i comes to be sums[kGroups * i], and to
  // q. Sums cross in stages of the rings that have been left empty for them.
  __device__ void exchange_sums(int32_t (&sums)[kBlocks][32], int32_t (&q)[2]) {
    const uint32_t own = sharing.group;
    RingPlace theirs = stage;
    const uint32_t apart = own == 0 ? stage.end - stage.begin : stage.begin - stage.end;
    theirs.begin += apart;
    theirs.end += apart;
    const auto at = static_cast<int32_t>(stage.behind());
    sharing.tell(kOfRing, {at, at});
    own == 0 ? send_sums<0>(sums) : send_sums<1>(sums);
    sharing.add_up(kOfOutputs, q);
    theirs.filled = theirs.begin + static_cast<uint32_t>(sharing.other(kOfRing, 0));
    RingPlace emptied = theirs;
#pragma unroll
    for (uint32_t n = 0; n < divide_up(kMostOwn * 8, kExchangedUnits); ++n) {
      if (n >= exchanged_stages(kBlocks, 1 - own)) continue;
      const uint4* units = exchanged_units_at(1 - own, theirs);
#pragma unroll
      for (uint32_t u = n * kExchangedUnits; u < min((n + 1) * kExchangedUnits, kMostOwn * 8); ++u) {
        if (u >= exchanged_units(kBlocks, 1 - own)) continue;
        const uint4 part = units[(u - n * kExchangedUnits) * kGroupThreads];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          sums[kGroups * (u / 8)][u % 8 * 4 + static_cast<uint32_t>(k)] += static_cast<int32_t>(word_of(part, k));
        }
      }
      theirs.advance();
    }
    publish_to_async();
    for (uint32_t n = 0; n < exchanged_stages(kBlocks, 1 - own); ++n) {
      set_free(emptied.filled);  // each thread for itself: see leave_noise
      emptied.advance();
    }
  }
  template <uint32_t kOwn>
  __device__ void send_sums(int32_t (&sums)[kBlocks][32]) {
    constexpr uint32_t kOther = 1 - kOwn;
#pragma unroll
    for (uint32_t u = 0; u < exchanged_units(kBlocks, kOwn); ++u) {
      if (u % kExchangedUnits == 0) await_weights();
      const int32_t* sum = &sums[2 * (u / 8) + kOther][u % 8 * 4];
      exchanged_units_at(kOwn, stage)[u % kExchangedUnits * kGroupThreads] =
          make_uint4(static_cast<uint32_t>(sum[0]), static_cast<uint32_t>(sum[1]), static_cast<uint32_t>(sum[2]),
                     static_cast<uint32_t>(sum[3]));
      if ((u + 1) % kExchangedUnits == 0 || u + 1 == exchanged_units(kBlocks, kOwn)) stage.advance();
    }
    if constexpr (kOwn == 1) {
#pragma unroll
      for (uint32_t i = 0; 2 * i + 1 < kBlocks; ++i) {
#pragma unroll
        for (uint32_t k = 0; k < 32; ++k) sums[2 * i][k] = sums[2 * i + 1][k];
      }
    }
  }
  // The thread's own unit of the first of those in a stage of a group's ring.
  static constexpr uint32_t kExchangedUnits = 2 * kBlocks;
  __device__ uint4* exchanged_units_at(uint32_t group, const RingPlace& place) const {
    const uint32_t behind = group * (place.end - place.begin) + place.behind();
    return reinterpret_cast<uint4*>(rings + behind / 16 * fused_stage_bytes(kBlocks)) + thread();
  }

  // What has been worked out of words by now stays before the next wait at a barrier, and so before a wait for products
  // behind that: compilers would put it behind both, and threads would be idle while products are made.
  template <int kCount>
  __device__ static void pin_registers(uint32_t (&words)[kCount]) {
#pragma unroll
    for (uint32_t& word : words) asm volatile("" : "+r"(word));
  }
  // The same of a part's outputs.
  __device__ static void pin_registers(Outputs& outputs, int part) {
#pragma unroll
    for (int i = 0; i < 8 / kParts; ++i) {
#pragma unroll
      for (auto& row : outputs.of) asm volatile("" : "+r"(row[part * (8 / kParts) + i]));
    }
  }

  // ---- q of linear ----
  // of rows' sums; as keep() takes it where a side has several draws.
  __device__ void scale_q(int32_t of_q, int32_t (&q)[2]) const {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      q[h] = egg_linear_q(q[h], args.q_shift, args.nearest) * (kMore ? 1 : of_q);
      if (is_odd(h) != 0) q[h] = -q[h];
    }
  }
  __device__ static void add_dot(const uint32_t* x, const uint4& b, int32_t& even, int32_t& odd) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const auto four = static_cast<int32_t>(word_of(b, w));
      even = __dp4a(static_cast<int32_t>(x[2 * w]), four, even);
      odd = __dp4a(static_cast<int32_t>(x[2 * w + 1]), four, odd);
    }
  }
  __device__ static void add_dot(const uint4 (&x)[2], const uint4& b, int32_t (&sums)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) sums[h] = dot16(x[h], b, sums[h]);
  }
  __device__ __forceinline__ void make_q(const Fragment<kBlocks>& x, int32_t of_q, int32_t (&q)[2], MoreOf of) {
    NoiseBlocks noise;
    if constexpr (kMore) __syncwarp();  // all have read what is kept anew
#pragma unroll 1
    for (uint32_t rank = 0; rank < (kMore ? args.shape.ranks : 1); ++rank) {
      int32_t two[2] = {0, 0};
#pragma unroll
      for (uint32_t b = 0; b < kBlocks; ++b) add_dot(&x.of[8 * b], noise.take(*this), two[0], two[1]);
      sharing.add_up(0, two);
      scale_q(of_q, two);
      if constexpr (kMore) {
        keep(of, rank, two);
      } else {
        q[0] = two[0];
        q[1] = two[1];
      }
    }
    if constexpr (kMore) __syncwarp();
  }

  // ---- Several draws a side ----
  // q of all ranks lies in shared memory as int16, those of two ranks in a word.
  __device__ uint32_t rank_pairs() const { return divide_up(args.shape.ranks, 2); }
  // Calls first(), and body(rank) for each further rank. What they keep is seen behind it.
  template <class First, class Body>
  __device__ __forceinline__ void each_rank(First&& first, Body&& body) {
    if constexpr (kMore) {
      __syncwarp();  // all have read what is kept anew
      first();
#pragma unroll 1
      for (uint32_t rank = 1; rank < args.shape.ranks; ++rank) body(rank);
      __syncwarp();
    }
  }
  __device__ __forceinline__ int32_t& two_q(MoreOf of, uint32_t rank_pair, uint32_t h) const {
    return more[(of * rank_pairs() + rank_pair) * kTileRows + 8 * h];
  }
  // The part of a second linear's x·B that has been added up.
  __device__ __forceinline__ int32_t& grown(uint32_t rank, uint32_t h) const {
    return more[(kMoreSums * rank_pairs() + rank - 1) * kTileRows + 8 * h];
  }
  // two: the same in all threads of a row.
  __device__ __forceinline__ void keep(MoreOf of, uint32_t rank, const int32_t (&two)[2]) const {
    if (quarter() != 0) return;
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      reinterpret_cast<int16_t*>(&two_q(of, rank / 2, h))[rank % 2] = static_cast<int16_t>(two[h]);
    }
  }
  // Adds the perturbation of all ranks to sums, with guard bits, and clips what would not fit once it is scaled: it is
  // clipped all the same. a: the first rank's draws; noise: where the others' are next.
  __device__ __forceinline__ void perturb(int32_t (&sums)[32], uint4 a, int32_t of_q, MoreOf of, NoiseBlocks& noise) {
    // Loops by number: with others the compiler leaves the sums in memory, and products wait.
#pragma unroll
    for (uint32_t i = 0; i < 32; ++i) sums[i] *= 1 << EGG_LINEAR_GUARD_BITS;
    const uint32_t ranks = args.shape.ranks;
#pragma unroll 1
    for (uint32_t rank = 0; rank < ranks; rank += 2) {
      if (rank > 0) a = noise.take(*this);
      uint4 b = make_uint4(0, 0, 0, 0);
      if (rank + 1 < ranks) b = noise.take(*this);
      const int32_t q[2] = {two_q(of, rank / 2, 0), two_q(of, rank / 2, 1)};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        // Two channels of both ranks in a word.
        const auto low = static_cast<int32_t>(pick(word_of(a, k), word_of(b, k), 0x5140));
        const auto high = static_cast<int32_t>(pick(word_of(a, k), word_of(b, k), 0x7362));
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          int32_t* const four = &sums[8 * k + 2 * h];
          four[0] = __dp2a_lo(q[h], low, four[0]);
          four[1] = __dp2a_hi(q[h], low, four[1]);
          four[4] = __dp2a_lo(q[h], high, four[4]);
          four[5] = __dp2a_hi(q[h], high, four[5]);
        }
      }
    }
    if (args.clips_sums == 0) return;
    const int32_t most = kMostScaled >> (31 - __clz(abs(of_q)));  // of_q: a power of two
#pragma unroll
    for (uint32_t i = 0; i < 32; ++i) sums[i] = min(max(sums[i], -most), most);
  }

  // each_output of fused_math.cuh for any number of draws a side. a: those of the first rank; noise: where the others'
  // are next.
  template <int kSums, class Make>
  __device__ __forceinline__ void each_output(int32_t (&sums)[kSums], const uint4& a, const Rescale& linear,
                                              const int32_t (&q)[2], MoreOf of, NoiseBlocks& noise, int32_t rounding,
                                              int part, Make&& make) {
    if constexpr (kMore) {
      perturb(sums, a, linear.of_q, of, noise);
      each_scaled(sums, linear.of_q, rounding, make);
    } else {
      each_perturbed(sums, a, linear, q, rounding, part, make);
    }
  }
  // The outputs of a part of a linear, raised or fallen as of_sums' sign has it: of row h, two channels in each word.
  template <int kSums>
  __device__ __forceinline__ void take_outputs(int32_t (&sums)[kSums], const uint4& a, const Rescale& linear,
                                               const int32_t (&q)[2], MoreOf of, NoiseBlocks& noise, int32_t rounding,
                                               int part, Outputs& out) {
    each_output(sums, a, linear, q, of, noise, rounding, part, [&](int h, int k, uint32_t low, uint32_t high) {
      out.of[h][2 * k] = clipped(low);
      out.of[h][2 * k + 1] = clipped(high);
    });
  }
  // The part that the thread's own channels have in a row's sum, of a value in shared memory.
  template <class Load>
  __device__ void add_own_dots(int32_t (&sums)[2], Load&& unit_at) {
#pragma unroll
    for (uint32_t i = 0; i < kMostOwn; i += 2) {
      uint4 noise_b[2];
      take_noise(noise_b[0], noise_b[1]);
#pragma unroll
      for (uint32_t j = i; j < i + 2 && j < kMostOwn; ++j) {
        if (!owns(j)) continue;
        const uint32_t b = own_block(j);
        const uint4 own[2] = {unit_at(b, 0), unit_at(b, 1)};
        add_dot(own, noise_b[j - i], sums);
      }
    }
  }

  // ---- Values ----
  template <class Load>
  __device__ static void load(Fragment<kBlocks>& to, Load&& unit_at) {
#pragma unroll
    for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        const uint4 own = unit_at(b, h);
#pragma unroll
        for (int w = 0; w < 4; ++w) to.of[8 * b + 2 * static_cast<uint32_t>(w) + h] = word_of(own, w);
      }
    }
  }

  // Makes the factors of l1_norm(x) for both rows. The warpgroups meet.
  __device__ void make_factors(int32_t (&factor)[2]) {
    sharing.add_up(kOfX, magnitudes);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      factor[h] = -reciprocals[max(static_cast<uint32_t>(magnitudes[h]) * args.mean_factor >> 24, 1u)];
      magnitudes[h] = 0;
    }
  }
  // The group's blocks of the scratch value become those of y = l1_norm(x). also(thread's part of a block of y, of both
  // rows) follows each block.
  template <class Also>
  __device__ void norm_own(const int32_t (&factor)[2], Also&& also) {
#pragma unroll(kGroups == 1 ? 1 : kMostOwn)
    for (uint32_t i = 0; i < kMostOwn; ++i) {
      if (!owns(i)) break;
      const uint32_t b = own_block(i);
      uint4 gains[2];
      uint4 normal[2];
      take_vector(gains);
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        const uint4 x = unit(kX, b, h);
        normal[h] =
            each_word([&](int k) { return normed(word_of(x, k), word_of(gains[h], k), factor[h], fallen_rounding); });
        unit(kScratch, b, h) = normal[h];
      }
      also(normal);
    }
  }
  __device__ void load_scratch(Fragment<kBlocks>& to) const {
    load(to, [&](uint32_t b, uint32_t h) { return unit(kScratch, b, h); });
  }
  // y = l1_norm(x), for a linear; its q as well where warpgroups meet; else make_later_q() makes it.
  __device__ void norm(Fragment<kBlocks>& y, int32_t of_q, int32_t (&q)[2]) {
    if constexpr (kTokens) return norm_tokens(y);
    int32_t factor[2];
    make_factors(factor);
    norm_own(factor, [](const uint4(&)[2]) {});
    if constexpr (kGroups > 1) {
      q[0] = q[1] = 0;
      add_own_dots(q, [&](uint32_t b, uint32_t h) { return unit(kScratch, b, h); });
      sharing.add_up(kOfY, q);
      scale_q(of_q, q);
    }
    load_scratch(y);
  }
  __device__ __forceinline__ void norm_tokens(Fragment<kBlocks>& y) {
#pragma unroll
    for (uint32_t b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) magnitudes[h] = add_magnitudes(unit(kX, b, h), magnitudes[h]);
    }
    int32_t factor[2];
    make_factors(factor);
#pragma unroll
    for (uint32_t b = 0; b < kBlocks; ++b) {
      uint4 gains[2];
      uint4 biases[2];
      take_vector(gains);
      take_vector(biases);
#pragma unroll
      for (uint32_t h = 0; h < 2; ++h) {
        const uint4 x = unit(kX, b, h);
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          y.of[8 * b + 2 * static_cast<uint32_t>(w) + h] =
              normed(word_of(x, w), word_of(gains[h], w), word_of(biases[h], w), factor[h], fallen_rounding - kRaise);
        }
      }
    }
  }
  __device__ __forceinline__ void make_later_q(const Fragment<kBlocks>& y, int32_t of_q, int32_t (&q)[2], MoreOf of) {
    if constexpr (kGroups == 1) make_q(y, of_q, q, of);
  }

  // Asks for the group's blocks of a state to be brought to their place on chip, which nobody reads any longer.
  __device__ void ask_for_state(uint32_t offset) const {
#pragma unroll
    for (uint32_t h = 0; h < 2; ++h) {
      const uint4* from = state_of(h, offset);
#pragma unroll
      for (uint32_t i = 0; i < kMostOwn; ++i) {
        if (!owns(i)) continue;
        const uint32_t b = own_block(i);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&state_unit(b, h))),
                     "l"(from + 4 * b)
                     : "memory");
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ static void await_state() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

}  // namespace eggroll::cuda

#endif
