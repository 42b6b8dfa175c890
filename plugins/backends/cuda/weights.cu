// The forms that weights take on the device, and their checksum.
#include <algorithm>

#include "device.h"
#include "eggroll/noise.h"
#include "update.h"

namespace eggroll::cuda {
namespace {

constexpr uint32_t kThreads = 256;

uint32_t blocks_for(size_t items) { return static_cast<uint32_t>((items + kThreads - 1) / kThreads); }

__global__ void pad_kernel(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size_t{rows} * stride) return;
  const size_t row = i / stride;
  const size_t col = i % stride;
  to[i] = col < cols ? from[row * cols + col] : 0;
}

__global__ void unpad_kernel(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size_t{rows} * cols) return;
  to[i] = from[i / cols * stride + i % cols];
}

__global__ void fragment_kernel(const int8_t* rows, uint32_t real_rows, uint32_t stride, uint4* fragments,
                                uint32_t in_blocks, size_t count) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const auto lane = static_cast<uint32_t>(i % 32);
  const auto j = static_cast<uint32_t>(i / 32 % 8);
  const size_t block = i / 256;
  const auto k = static_cast<uint32_t>(block % in_blocks);
  const auto n = static_cast<uint32_t>(block / in_blocks);
  const uint32_t output = n * kBlock + lane / 4 / 2 * 16 + 2 * j + lane / 4 % 2;
  uint4 value = make_uint4(0, 0, 0, 0);
  if (output < real_rows) {
    const auto* words = reinterpret_cast<const uint32_t*>(rows + size_t{output} * stride + k * kBlock) + lane % 4;
    value = make_uint4(words[0], words[4], words[8], words[12]);
  }
  fragments[i] = value;
}

__global__ void stage_kernel(const int8_t* rows, uint32_t real_rows, uint32_t stride, uint4* stages, uint32_t in_parts,
                             size_t count) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  constexpr uint32_t kPlanes = kBlock / kUnit;
  const auto place = static_cast<uint32_t>(i % kBlock);
  const auto plane = static_cast<uint32_t>(i / kBlock % kPlanes);
  const auto half = static_cast<uint32_t>(i / (kBlock * kPlanes) % 2);
  const size_t part = i / (kPart / kUnit);
  const auto k = static_cast<uint32_t>(part % in_parts);
  const auto two_blocks = static_cast<uint32_t>(part / in_parts);
  const uint32_t output = (2 * two_blocks + half) * kBlock + place % 8 / 2 * 16 + place / 8 * 2 + place % 2;
  uint4 value = make_uint4(0, 0, 0, 0);
  if (output < real_rows && k * kBlock < stride) {
    value = *reinterpret_cast<const uint4*>(rows + size_t{output} * stride + k * kBlock + plane * kUnit);
  }
  stages[i] = value;
}

// One thread for each 16 inputs of an output, of the tile's word `plane` in each quarter of a block.
__global__ void fused_stage_kernel(const int8_t* rows, uint32_t real_rows, uint32_t stride, uint4* stages,
                                   uint32_t out_blocks, uint32_t in_blocks, bool of_inputs, size_t count) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const auto place = static_cast<uint32_t>(i % kBlock);
  const size_t rest = i / kBlock;
  const uint32_t planes = in_blocks * (kBlock / kUnit);
  const auto out_block = static_cast<uint32_t>(of_inputs ? rest % out_blocks : rest / planes);
  const auto plane = static_cast<uint32_t>(of_inputs ? rest / out_blocks : rest % planes);
  const uint32_t output = out_block * kBlock + place % 8 / 2 * 16 + place / 8 * 2 + place % 2;
  uint4 value = make_uint4(0, 0, 0, 0);
  if (output < real_rows) {
    const uint32_t at = plane / (kBlock / kUnit) * kBlock + plane % (kBlock / kUnit) * 4;
    const auto* words = reinterpret_cast<const uint32_t*>(rows + size_t{output} * stride + at);
    value = make_uint4(words[0], words[4], words[8], words[12]);
  }
  stages[i] = value;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    checksum_kernel(const T* values, size_t count, uint64_t key, unsigned long long* sum) {
  __shared__ unsigned long long warp_sums[kThreads / 32];
  unsigned long long mine = 0;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += size_t{gridDim.x} * kThreads) {
    mine += egg_absorb(egg_absorb(key, i), static_cast<uint64_t>(values[i]));
  }
  for (uint32_t distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (uint32_t w = 1; w < kThreads / 32; ++w) mine += warp_sums[w];
  atomicAdd(sum, mine);
}

template <class T>
void launch_checksum_of(const T* values, size_t count, uint64_t key, unsigned long long* sum, cudaStream_t stream) {
  constexpr uint32_t kMostBlocks = 1024;
  if (count == 0) return;
  checksum_kernel<<<std::min(blocks_for(count), kMostBlocks), kThreads, 0, stream>>>(values, count, key, sum);
  check_launch("add up its weights");
}

}  // namespace

void launch_checksum(const int8_t* values, size_t count, uint64_t key, unsigned long long* sum, cudaStream_t stream) {
  launch_checksum_of(values, count, key, sum, stream);
}

void launch_checksum(const uint32_t* values, size_t count, uint64_t key, unsigned long long* sum, cudaStream_t stream) {
  launch_checksum_of(values, count, key, sum, stream);
}

void launch_pad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream) {
  pad_kernel<<<blocks_for(size_t{rows} * stride), kThreads, 0, stream>>>(from, to, rows, cols, stride);
  check_launch("arrange weights");
}

void launch_unpad(const int8_t* from, int8_t* to, uint32_t rows, uint32_t cols, uint32_t stride, cudaStream_t stream) {
  unpad_kernel<<<blocks_for(size_t{rows} * cols), kThreads, 0, stream>>>(from, to, rows, cols, stride);
  check_launch("arrange weights");
}

void launch_fragments(const int8_t* rows, uint32_t real_rows, uint32_t stride, int8_t* fragments, uint32_t out_blocks,
                      uint32_t in_blocks, cudaStream_t stream) {
  const size_t count = size_t{out_blocks} * in_blocks * (kBlock * kBlock / kUnit);
  fragment_kernel<<<blocks_for(count), kThreads, 0, stream>>>(rows, real_rows, stride,
                                                              reinterpret_cast<uint4*>(fragments), in_blocks, count);
  check_launch("arrange weights");
}

void launch_stages(const int8_t* rows, uint32_t real_rows, uint32_t stride, int8_t* stages, uint32_t out_blocks,
                   uint32_t in_blocks, cudaStream_t stream) {
  const uint32_t in_parts = padded(in_blocks, kParts);
  const size_t count = size_t{divide_up(out_blocks, 2)} * in_parts * (kPart / kUnit);
  stage_kernel<<<blocks_for(count), kThreads, 0, stream>>>(rows, real_rows, stride, reinterpret_cast<uint4*>(stages),
                                                           in_parts, count);
  check_launch("arrange weights");
}

void launch_fused_stages(const int8_t* rows, uint32_t real_rows, uint32_t stride, int8_t* stages, uint32_t out_blocks,
                         uint32_t in_blocks, bool of_inputs, cudaStream_t stream) {
  const size_t count = size_t{out_blocks} * in_blocks * (kBlock * kBlock / kUnit);
  fused_stage_kernel<<<blocks_for(count), kThreads, 0, stream>>>(
      rows, real_rows, stride, reinterpret_cast<uint4*>(stages), out_blocks, in_blocks, of_inputs, count);
  check_launch("arrange weights");
}

}  // namespace eggroll::cuda
