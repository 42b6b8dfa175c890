// The forms that weights take on the device, and their checksum.
#include <algorithm>

#include "device.h"
#include "eggroll/noise.h"
#include "jobs.cuh"

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

// A unit of a form: four words of an output's inputs, from `at` on, `apart` words apart. Words beyond the rows are
// zero.
__device__ uint4 unit_of(const FormJob& job, uint32_t output, uint32_t at, uint32_t apart) {
  if (output >= job.real_rows || at >= job.stride) return make_uint4(0, 0, 0, 0);
  const auto* words = reinterpret_cast<const uint32_t*>(job.rows + size_t{output} * job.stride + at);
  return make_uint4(words[0], words[apart], words[2 * apart], words[3 * apart]);
}

// The output at a place of 64 outputs in a stage.
__device__ uint32_t output_at(uint32_t place) { return place % 8 / 2 * 16 + place / 8 * 2 + place % 2; }

__device__ uint4 fragment_unit(const FormJob& job, uint32_t i) {
  const uint32_t lane = i % 32;
  const uint32_t block = i / 256;
  const uint32_t output = block / job.in_blocks * kBlock + lane / 4 / 2 * 16 + i / 32 % 8 * 2 + lane / 4 % 2;
  return unit_of(job, output, block % job.in_blocks * kBlock + lane % 4 * 4, 4);
}

__device__ uint4 stage_unit(const FormJob& job, uint32_t i) {
  const uint32_t in_parts = padded(job.in_blocks, kParts);
  const uint32_t plane = i / kBlock % (kBlock / kUnit);
  const uint32_t half = i / (kBlock * kBlock / kUnit) % 2;
  const uint32_t part = i / (kPart / kUnit);
  const uint32_t output = (part / in_parts * 2 + half) * kBlock + output_at(i % kBlock);
  return unit_of(job, output, part % in_parts * kBlock + plane * kUnit, 1);
}

__device__ uint4 fused_unit(const FormJob& job, uint32_t i) {
  const uint32_t planes = job.in_blocks * (kBlock / kUnit);
  const uint32_t rest = i / kBlock;
  const bool of_inputs = job.kind == kFusedInputs;
  const uint32_t out_block = of_inputs ? rest % job.out_blocks : rest / planes;
  const uint32_t plane = of_inputs ? rest / job.out_blocks : rest % planes;
  const uint32_t at = plane / (kBlock / kUnit) * kBlock + plane % (kBlock / kUnit) * 4;
  return unit_of(job, out_block * kBlock + output_at(i % kBlock), at, 4);
}

__host__ __device__ uint32_t units_of(const FormJob& job) {
  if (job.kind == kStages) return divide_up(job.out_blocks, 2) * padded(job.in_blocks, kParts) * (kPart / kUnit);
  return job.out_blocks * job.in_blocks * (kBlock * kBlock / kUnit);
}

__global__ void __launch_bounds__(kThreads) form_kernel(const JobList<FormJob> forms, uint32_t first) {
  const uint32_t piece = first + blockIdx.x;
  const FormJob& job = job_of(forms, piece);
  const uint32_t i = (piece - job.first) * kThreads + threadIdx.x;
  if (i >= units_of(job)) return;
  reinterpret_cast<uint4*>(job.form)[i] = job.kind == kFragments ? fragment_unit(job, i)
                                          : job.kind == kStages  ? stage_unit(job, i)
                                                                 : fused_unit(job, i);
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

uint32_t form_pieces(const FormJob& job) { return blocks_for(units_of(job)); }

void launch_forms(const JobList<FormJob>& forms, uint32_t first, uint32_t pieces, cudaStream_t stream) {
  if (pieces == 0) return;
  form_kernel<<<pieces, kThreads, 0, stream>>>(forms, first);
  check_launch("arrange weights");
}

}  // namespace eggroll::cuda
