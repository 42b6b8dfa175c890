// Which streams read each row of the masked tables: counted, given a place in a list, and cut into pieces of work.
// Votes are sums of integers, so the order of a list does not matter.
#include <algorithm>

#include "device.h"
#include "update.h"
#include "warp.cuh"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kMostBlocks = 132 * 16;

// row_vote_std of row_voters.h, in device code. count: as in RowTable.
__device__ float row_vote_std(unsigned long long count, uint32_t ranks, double variance) {
  const auto draws = static_cast<double>(static_cast<unsigned long long>(pairs_voting(count)) * ranks);
  return __double2float_rn(__dsqrt_rn(__dmul_rn(draws, variance)));
}

// One of a stream's reads of a table.
struct Read {
  const ReadArgs& args;
  const RowTable& table;
  size_t number;  // among all reads of the table: a stream's lie together

  __device__ uint32_t reads() const { return table.reader_count * args.tokens; }
  __device__ uint32_t stream() const { return static_cast<uint32_t>(number / reads()); }

  // The row that the stream's read number i asks for.
  __device__ uint32_t row(uint32_t stream, uint32_t i) const {
    const uint32_t row_of = args.readers[table.first_reader + i / args.tokens];
    const size_t entry = size_t{stream} * args.tokens + i % args.tokens;
    return row_of == 0 ? args.inputs[entry] : args.row_numbers[entry * args.index_count + row_of - 1];
  }
  __device__ uint32_t row() const { return row(stream(), static_cast<uint32_t>(number % reads())); }

  // The row; EGG_NO_ROW if there is none or the stream has read it before.
  __device__ uint32_t new_row() const {
    const uint32_t own_stream = stream();
    const auto own = static_cast<uint32_t>(number % reads());
    const uint32_t found = row(own_stream, own);
    if (found == EGG_NO_ROW || found % args.owners != args.owner) return EGG_NO_ROW;
    if (args.counted != nullptr) return args.counted[own_stream] != 0 ? found : EGG_NO_ROW;
    for (uint32_t i = 0; i < own; ++i) {
      if (row(own_stream, i) == found) return EGG_NO_ROW;
    }
    return found;
  }

  // How many of the stream's pairs vote on the table.
  __device__ uint32_t pairs() const {
    const uint32_t begin = (args.first_stream + stream()) * args.stream_pairs;
    const uint32_t first = max(begin, max(args.first_pair, table.first_voter));
    const uint32_t last =
        min(begin + args.stream_pairs, min(args.first_pair + args.pairs, table.first_voter + table.voters));
    return last > first ? last - first : 0;
  }
};

__device__ size_t reads_of(const ReadArgs& args, const RowTable& table) {
  return size_t{args.streams} * args.tokens * table.reader_count;
}

// Counts the streams and pairs that vote on each row, and gives each stream its place among a row's.
__global__ void __launch_bounds__(kThreads) count_streams_kernel(const ReadArgs args) {
  const RowTable& table = args.tables.tables[blockIdx.y];
  const size_t all = reads_of(args, table);
  const uint32_t below = (1u << threadIdx.x % 32) - 1;
  for (size_t first = size_t{blockIdx.x} * kThreads; first < all; first += size_t{gridDim.x} * kThreads) {
    const Read read{args, table, first + threadIdx.x};
    const bool exists = read.number < all;
    const uint32_t pairs = exists ? read.pairs() : 0;
    const uint32_t row = pairs > 0 ? read.new_row() : EGG_NO_ROW;
    // One addition for all lanes that have the same row: some rows are read by a tenth of all streams.
    const uint32_t alike = __match_any_sync(kAll, row);
    uint32_t place = kNotListed;
    if (row != EGG_NO_ROW) {
      const int leader = __ffs(static_cast<int>(alike)) - 1;
      const uint32_t all_pairs = __reduce_add_sync(alike, pairs);
      unsigned long long before = 0;
      if (static_cast<int>(threadIdx.x % 32) == leader) {
        before = atomicAdd(table.counts + row, (static_cast<unsigned long long>(__popc(alike)) << 32) + all_pairs);
      }
      before = __shfl_sync(alike, before, leader);
      place = streams_voting(before) + static_cast<uint32_t>(__popc(alike & below));
    }
    if (exists) table.places[read.number] = place;
  }
}

// Returns the sum of the values of earlier lanes; *all becomes the sum of all lanes.
__device__ uint32_t sum_before(uint32_t value, uint32_t* all) {
  uint32_t sum = value;
#pragma unroll
  for (uint32_t d = 1; d < 32; d *= 2) {
    const uint32_t other = __shfl_up_sync(kAll, sum, d);
    if (threadIdx.x % 32 >= d) sum += other;
  }
  *all = __shfl_sync(kAll, sum, 31);
  return sum - value;
}

// Must be called by all lanes. Takes room for each lane's `wanted`, and returns where the lane's room begins.
__device__ uint32_t take_room(uint32_t* taken, uint32_t wanted) {
  uint32_t all = 0;
  const uint32_t before = sum_before(wanted, &all);
  uint32_t at = 0;
  if (threadIdx.x % 32 == 0 && all > 0) at = atomicAdd(taken, all);
  return __shfl_sync(kAll, at, 0) + before;
}

// Gives each row that has votes its part of the list and its pieces. A lane has kLaneRows neighbouring rows, because
// all warps take room from the same counters.
constexpr uint32_t kLaneRows = 8;

__global__ void __launch_bounds__(kThreads) list_rows_kernel(const ReadArgs args) {
  const RowTable& table = args.tables.tables[blockIdx.y];
  for (uint32_t first = blockIdx.x * kThreads; first * kLaneRows < table.rows; first += gridDim.x * kThreads) {
    const uint32_t row = (first + threadIdx.x) * kLaneRows;
    unsigned long long counts[kLaneRows];
    uint32_t streams = 0;
    uint32_t pieces = 0;
    uint32_t shared = 0;  // rows that several pieces have
    const uint32_t most = args.most;
    const auto pieces_of = [&](unsigned long long count) {
      return divide_up(streams_voting(count) * args.stream_pairs, most);
    };
#pragma unroll
    for (uint32_t i = 0; i < kLaneRows; ++i) {
      counts[i] = row + i < table.rows ? table.counts[row + i] : 0;
      streams += streams_voting(counts[i]);
      pieces += pieces_of(counts[i]);
      shared += pieces_of(counts[i]) > 1 ? 1 : 0;
    }
    if (__all_sync(kAll, streams == 0)) continue;
    uint32_t begin = take_room(table.stream_count, streams);
    uint32_t piece = take_room(table.piece_count, pieces);
    uint32_t place = args.tables.keeps_votes != 0 ? 0 : take_room(table.voted_count, shared);
#pragma unroll
    for (uint32_t i = 0; i < kLaneRows; ++i) {
      if (counts[i] == 0) continue;
      const float vote_std = row_vote_std(counts[i], args.ranks, args.variances[blockIdx.y]);
      const uint32_t pairs = streams_voting(counts[i]) * args.stream_pairs;
      uint32_t votes_row = row + i;
      if (args.tables.keeps_votes == 0) {
        votes_row = pairs > most ? place++ : kNoVotesRow;
        if (pairs > most) table.voted[votes_row] = {row + i, votes_row, vote_std};
      }
      table.begins[row + i] = begin;
      for (uint32_t done = 0; done < pairs; done += most) {
        table.pieces[piece++] = {row + i, begin, done, min(pairs - done, most), votes_row, vote_std};
      }
      begin += streams_voting(counts[i]);
    }
  }
}

// Puts each stream at its place in the list.
__global__ void __launch_bounds__(kThreads) put_streams_kernel(const ReadArgs args) {
  const RowTable& table = args.tables.tables[blockIdx.y];
  const size_t all = reads_of(args, table);
  for (size_t number = size_t{blockIdx.x} * kThreads + threadIdx.x; number < all;
       number += size_t{gridDim.x} * kThreads) {
    const uint32_t place = table.places[number];
    if (place == kNotListed) continue;
    const Read read{args, table, number};
    table.streams[table.begins[read.row()] + place] = read.stream();
  }
}

// A warp looks at 32 rows at a time.
__global__ void __launch_bounds__(kThreads)
    find_rows_kernel(const RowTable* tables, const double* variances, uint32_t ranks) {
  const RowTable& table = tables[blockIdx.y];
  for (uint32_t first = (blockIdx.x * kThreads + threadIdx.x) / 32 * 32; first < table.rows;
       first += gridDim.x * kThreads) {
    const uint32_t row = first + threadIdx.x % 32;
    const unsigned long long count = row < table.rows ? table.counts[row] : 0;
    if (__all_sync(kAll, count == 0)) continue;
    const uint32_t at = take_room(table.voted_count, count > 0 ? 1 : 0);
    if (count > 0) table.voted[at] = {row, row, row_vote_std(count, ranks, variances[blockIdx.y])};
  }
}

// A warp clears a row.
__global__ void __launch_bounds__(kThreads) clear_rows_kernel(const RowTable* tables) {
  const RowTable& table = tables[blockIdx.y];
  const uint32_t count = *table.voted_count;
  for (uint32_t i = (blockIdx.x * kThreads + threadIdx.x) / 32; i < count; i += gridDim.x * kThreads / 32) {
    const size_t row = table.voted[i].votes_row;
    for (uint32_t c = threadIdx.x % 32; c < table.cols; c += 32) table.votes[row * table.cols + c] = 0;
  }
}

// A warp copies a row.
__global__ void __launch_bounds__(kThreads) take_rows_kernel(const RowTable* from, const RowTable* to) {
  const RowTable& theirs = from[blockIdx.y];
  const RowTable& own = to[blockIdx.y];
  const uint32_t count = *theirs.piece_count;
  for (uint32_t i = (blockIdx.x * kThreads + threadIdx.x) / 32; i < count; i += gridDim.x * kThreads / 32) {
    const RowPiece piece = theirs.pieces[i];
    if (piece.first != 0) continue;
    const auto* row = reinterpret_cast<const uint2*>(theirs.weights + size_t{piece.row} * theirs.stride);
    auto* const out = reinterpret_cast<uint2*>(own.weights + size_t{piece.row} * own.stride);
    for (uint32_t c = threadIdx.x % 32; c < own.stride / sizeof(uint2); c += 32) out[c] = row[c];
  }
}

__global__ void __launch_bounds__(kThreads)
    copy_rows_kernel(const uint32_t* from, uint32_t* to, uint32_t rows, uint32_t cols, uint32_t first, uint32_t step) {
  const size_t row = first + size_t{(blockIdx.x * kThreads + threadIdx.x) / 32} * step;
  if (row >= rows) return;
  for (uint32_t c = threadIdx.x % 32; c < cols; c += 32) to[row * cols + c] = from[row * cols + c];
}

// Blocks for this number of threads for each table.
dim3 blocks_for(size_t threads, const RowTables& tables) {
  const size_t blocks = (threads + kThreads - 1) / kThreads;
  return {static_cast<uint32_t>(std::clamp<size_t>(blocks, 1, kMostBlocks)), tables.count};
}

}  // namespace

void launch_list_streams(const ReadArgs& args, cudaStream_t stream) {
  const dim3 by_read = blocks_for(size_t{args.streams} * args.tokens * args.tables.most_readers, args.tables);
  count_streams_kernel<<<by_read, kThreads, 0, stream>>>(args);
  const dim3 by_row = blocks_for(divide_up(args.tables.most_rows, kLaneRows), args.tables);
  list_rows_kernel<<<by_row, kThreads, 0, stream>>>(args);
  put_streams_kernel<<<by_read, kThreads, 0, stream>>>(args);
  check_launch("list what streams read");
}

void launch_find_rows(const RowTables& tables, const double* variances, uint32_t ranks, cudaStream_t stream) {
  if (tables.count == 0) return;
  find_rows_kernel<<<blocks_for(tables.most_rows, tables), kThreads, 0, stream>>>(tables.tables, variances, ranks);
  check_launch("find rows with votes");
}

void launch_take_rows(const RowTables& from, const RowTables& to, cudaStream_t stream) {
  if (to.count == 0) return;
  take_rows_kernel<<<blocks_for(size_t{to.most_rows} * 32, to), kThreads, 0, stream>>>(from.tables, to.tables);
  check_launch("take rows of another GPU");
}

void launch_copy_rows(const uint32_t* from, uint32_t* to, uint32_t rows, uint32_t cols, uint32_t first, uint32_t step,
                      cudaStream_t stream) {
  const uint32_t blocks = divide_up(divide_up(rows, step), kThreads / 32);
  copy_rows_kernel<<<blocks, kThreads, 0, stream>>>(from, to, rows, cols, first, step);
  check_launch("take rows of another GPU");
}

void launch_clear_rows(const RowTables& tables, cudaStream_t stream) {
  if (tables.count == 0) return;
  clear_rows_kernel<<<blocks_for(size_t{tables.most_rows} * 32, tables), kThreads, 0, stream>>>(tables.tables);
  check_launch("clear votes");
}

}  // namespace eggroll::cuda
