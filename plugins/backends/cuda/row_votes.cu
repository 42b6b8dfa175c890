// Votes on the rows of masked tables: a warp adds up what the pairs of a piece have for its row. If a row has only
// one piece, the rule takes the votes at once, and they never lie in memory.
#include "draw.cuh"
#include "rule.cuh"
#include "warp.cuh"
#include "words.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kRuleWarps = kRuleThreads / 32;

// Adds the votes of two pairs on four columns. four, other: their draws; factors: two of 16 bits.
__device__ void add_two(uint32_t four, uint32_t other, int32_t factors, int32_t* sums) {
  const auto low = static_cast<int32_t>(pick(four, other, 0x5140));
  const auto high = static_cast<int32_t>(pick(four, other, 0x7362));
  sums[0] = __dp2a_lo(factors, low, sums[0]);
  sums[1] = __dp2a_hi(factors, low, sums[1]);
  sums[2] = __dp2a_lo(factors, high, sums[2]);
  sums[3] = __dp2a_hi(factors, high, sums[3]);
}

// One table's pieces.
struct RowVotes {
  const RowVoteArgs& args;
  const RowTable& table;
  Lanes lanes;

  // The place of a byte of the layout, in the noise of a tile's first pair.
  __device__ const int8_t* noise(uint32_t at) const {
    const uint32_t place = args.places == nullptr ? at : args.places[at / kBlock].first * kBlock + at % kBlock;
    return args.noise + noise_place(0, place);
  }
  __device__ size_t of_pair(uint32_t pair) const {
    return pair / kTilePairs * args.tile_bytes + pair % kTilePairs * kBlock;
  }

  // A pair of the piece, and its fitness, times its draw of side A.
  struct Vote {
    uint32_t pair;
    int32_t factor;
  };
  __device__ Vote vote(const RowPiece& piece, uint32_t number, const int8_t* keys) const {
    const uint32_t i = piece.first + number;
    const uint32_t stream = args.first_stream + table.streams[piece.streams + i / args.stream_pairs];
    const uint32_t pair = stream * args.stream_pairs + i % args.stream_pairs;
    const uint32_t first = max(args.first_pair, table.first_voter);
    const uint32_t last = min(args.first_pair + args.pairs, table.first_voter + table.voters);
    if (pair < first || pair >= last) return {0, 0};
    const uint32_t own = pair - args.first_pair;
    const int32_t fitness = args.fitness[own];
    if (fitness == 0) return {own, 0};
    const auto* key = reinterpret_cast<const unsigned long long*>(keys + of_pair(own));
    return {own, fitness * draw_of(args.values, __ldg(key), EGG_SIDE_A, piece.row)};
  }

  // The votes of the piece's pairs. All lanes of the warp must call it; their pieces have at most `most` pairs.
  __device__ void add_up(const RowPiece& piece, uint32_t most, uint32_t column, int32_t (&sums)[kWeights]) const {
    const bool exists = column < table.cols;
    for (uint32_t rank = 0; rank < args.ranks; ++rank) {
      const int8_t* keys = noise(table.key_offset + rank * kKeyBytes);
      const int8_t* b = noise(table.b_offset + rank * table.stride + column);
      for (uint32_t first = 0; first < most; first += 2 * lanes.count) {
        // Each lane looks up two pairs; then all lanes use the pairs of each lane.
        const uint32_t own = first + 2 * lanes.own();
        Vote left{0, 0};
        Vote right{0, 0};
        if (own < piece.pairs) left = vote(piece, own, keys);
        if (own + 1 < piece.pairs) right = vote(piece, own + 1, keys);
        const int32_t both = (left.factor & 0xffff) | right.factor << 16;
        const uint32_t here = min(lanes.count, divide_up(most - first, 2));
#pragma unroll 4
        for (uint32_t k = 0; k < here; ++k) {
          const int32_t factors = lanes.from(both, k);
          const uint32_t left_pair = lanes.from(left.pair, k);
          const uint32_t right_pair = lanes.from(right.pair, k);
          uint2 from_left{};
          uint2 from_right{};
          if (exists && factors != 0) {
            from_left = __ldg(reinterpret_cast<const uint2*>(b + of_pair(left_pair)));
            from_right = __ldg(reinterpret_cast<const uint2*>(b + of_pair(right_pair)));
          }
          add_two(from_left.x, from_right.x, factors, sums);
          add_two(from_left.y, from_right.y, factors, sums + 4);
        }
      }
    }
  }

  // Adds up the piece's votes, or gives them to the rule with their weights. All lanes of the warp must call it.
  __device__ void make(const RowPiece& piece, uint32_t column, Weights<int32_t>& weights) const {
    const bool exists = piece.pairs > 0 && column < table.cols;
    const bool is_whole = piece.votes_row == kNoVotesRow;
    if (exists && is_whole) {
      weights.find(table, piece.row, column);
      weights.vote_std = piece.vote_std;
    }
    add_up(piece, __reduce_max_sync(kAll, piece.pairs), column, weights.votes);
    if (!exists || is_whole) return;
    auto* votes = reinterpret_cast<unsigned long long*>(table.votes) + size_t{piece.votes_row} * table.cols + column;
#pragma unroll
    for (uint32_t j = 0; j < kWeights; ++j) {
      if (column + j >= table.cols) break;
      atomicAdd(votes + j, static_cast<unsigned long long>(static_cast<long long>(weights.votes[j])));
    }
  }
};

template <bool kShared>
__global__ void __launch_bounds__(kRuleThreads, 14) row_votes_kernel(const RowVoteArgs args, const RuleArgs rule) {
  const Values values = values_of<kShared>(rule);
  for (uint32_t t = 0; t < args.tables.count; ++t) {
    const RowTable& table = args.tables.tables[t];
    const RowVotes votes{args, table, Lanes(table.cols)};
    const uint32_t at_once = 32 / votes.lanes.count;
    const uint32_t cuts = divide_up(table.cols, votes.lanes.columns());  // of a piece's columns
    const uint32_t count = *table.piece_count * cuts;
    const size_t slot_stride = size_t{table.rows} * table.cols;
    uint32_t moved = 0;
    for (uint32_t first = (blockIdx.x * kRuleWarps + threadIdx.x / 32) * at_once; first < count;
         first += gridDim.x * kRuleWarps * at_once) {
      const uint32_t own = first + threadIdx.x % 32 / votes.lanes.count;
      RowPiece piece{};  // of no pairs
      if (own < count) piece = table.pieces[own / cuts];
      const uint32_t column = own % cuts * votes.lanes.columns() + votes.lanes.own() * kWeights;
      Weights<int32_t> weights{};
      votes.make(piece, column, weights);
      if (__any_sync(kAll, weights.at != nullptr)) moved += values.apply(weights, slot_stride);
    }
    add_moved(moved, rule.changed + table.param);
  }
}

}  // namespace

void launch_row_votes(const RowVoteArgs& args, const RuleArgs& rule, cudaStream_t stream) {
  launch_with_rule(row_votes_kernel<true>, row_votes_kernel<false>, rule, kMostRuleBlocks, stream, args, rule);
}

}  // namespace eggroll::cuda
