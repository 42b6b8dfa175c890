#include "replica_part.h"

#include <algorithm>

#include "forward.h"
#include "fused.h"

namespace eggroll::cuda {
namespace {

constexpr size_t kFewestBytes = size_t{1} << 20;  // that several threads copy

// Selects the device for later calls. Its pool keeps freed memory.
ReplicaPlan selected(ReplicaPlan own) {
  check(cudaSetDevice(own.device), "be selected");
  cudaMemPool_t pool = nullptr;
  uint64_t all = UINT64_MAX;
  check(cudaDeviceGetDefaultMemPool(&pool, own.device), "give its pool of memory");
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "keep its pool of memory");
  return own;
}

// A property of the kernels: every session sets the same value.
void allow_shared_memory(const ReplicaPlan& own) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, own.device), "describe itself");
  const auto shared_bytes = static_cast<uint32_t>(bytes);
  if (own.fused() != nullptr) {
    const FusedPlan& fused = *own.fused()->fused;
    prepare_fused(fused.shape, fused.blocks, fused.logit_blocks, shared_bytes);
  }
  if (!own.plan.fused) prepare_forward(shared_bytes);
  prepare_votes();
}

}  // namespace

ReplicaDevice::ReplicaDevice(ReplicaPlan its_own, const egg_session_spec& spec)
    : own(selected(std::move(its_own))), rule(spec.rule), threads(spec.threads) {
  allow_shared_memory(own);
}

void ReplicaDevice::finish() const {
  cudaSetDevice(own.device);
  for (const cudaStream_t each :
       {cudaStream_t{stream}, cudaStream_t{beside}, cudaStream_t{sending}, cudaStream_t{receiving}}) {
    cudaStreamSynchronize(each);
  }
}

// Fills one half of the locked memory while the other half is copied from.
void ReplicaDevice::bring(void* to, const void* from, size_t bytes, const char* what) {
  constexpr size_t kPiece = kStagingBytes / 2;
  staging.reserve(std::min(bytes, kStagingBytes));
  const auto half_of = [&](size_t begin) { return staging.get() + begin / kPiece % 2 * kPiece; };
  const auto start = [&](size_t begin) {
    if (begin >= bytes) return;
    check(cudaMemcpyAsync(half_of(begin), static_cast<const int8_t*>(from) + begin, std::min(kPiece, bytes - begin),
                          cudaMemcpyDeviceToHost, stream),
          what);
  };
  start(0);
  for (size_t begin = 0; begin < bytes; begin += kPiece) {
    check(cudaStreamSynchronize(stream), what);
    start(begin + kPiece);
    threads.split(std::min(kPiece, bytes - begin), kFewestBytes, [&](size_t first, size_t end) {
      std::copy(half_of(begin) + first, half_of(begin) + end, static_cast<int8_t*>(to) + begin + first);
    });
  }
}

}  // namespace eggroll::cuda
