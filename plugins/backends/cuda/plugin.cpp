// The cuda backend: NVIDIA GPUs of compute capability 8.0 and later.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "eggroll/backend.h"
#include "session.h"

namespace eggroll::cuda {
namespace {

constexpr int32_t kScore = 1000;
constexpr int kOldestMajor = 8;

// Asks the driver without making a context on any device.
int32_t probe_cuda(egg_error* why) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    cudaGetLastError();
    std::snprintf(why->text, sizeof(why->text), "needs an NVIDIA GPU and a driver for CUDA %d.%d or later; %s",
                  CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
                  status == cudaSuccess ? "there is no GPU" : cudaGetErrorString(status));
    return 0;
  }
  int major = 0;
  int minor = 0;
  for (int device = 0; device < count; ++device) {
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (major >= kOldestMajor) return kScore;
  }
  std::snprintf(why->text, sizeof(why->text), "needs a GPU of compute capability %d.0; this one has %d.%d",
                kOldestMajor, major, minor);
  return 0;
}

class CudaBackend : public Backend {
 public:
  // devices: list of numbers; without one the first device is used. checksum_every: updates; without it never.
  explicit CudaBackend(Settings& settings) {
    while (settings.has(key(devices_.size()))) {
      const int device = settings.int32(key(devices_.size()), 0, 1023);
      require_device(device, key(devices_.size()));
      devices_.push_back(device);
    }
    if (settings.has("checksum_every")) checksum_every_ = static_cast<uint32_t>(settings.int32("checksum_every", 0));
    settings.finish();
    if (devices_.empty()) devices_.push_back(0);
  }

  // A site may be what the loss reads, of up to kMostDrawRows channels, or a value within on which the loss of its own
  // token depends.
  bool supports_site(const egg_program& program, const egg_site& site) override {
    if (is_at_loss(program, site.value)) return program.vocab <= static_cast<int32_t>(kMostDrawRows);
    const BehindProgram behind(program, site);
    return !behind.ops.empty() && behind.ops.back().code == EGG_OP_LOSS;
  }
  SessionPlan plan_session(const egg_session_spec& spec) override { return describe(plan_replicas(spec, devices_)); }
  std::unique_ptr<Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<CudaSession>(spec, plan_replicas(spec, devices_), checksum_every_);
  }

 private:
  static std::string key(size_t i) { return "devices." + std::to_string(i); }

  void require_device(int device, const std::string& key) const {
    int count = 0;
    check(cudaGetDeviceCount(&count), "be counted");
    if (device >= count) {
      throw setting_error(key, key + " is " + std::to_string(device) + ", expected a number below " +
                                   std::to_string(count) + ", the number of GPUs here");
    }
    if (std::find(devices_.begin(), devices_.end(), device) != devices_.end()) {
      throw setting_error(key, key + " is " + std::to_string(device) + " again; name each device once");
    }
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "describe itself");
    if (major < kOldestMajor) {
      throw setting_error(key, key + " is " + std::to_string(device) + ", a GPU of compute capability " +
                                   std::to_string(major) + ".x, expected 8.0 or later; choose another");
    }
  }

  std::vector<int> devices_;
  uint32_t checksum_every_ = 0;
};

}  // namespace
}  // namespace eggroll::cuda

EGGROLL_BACKEND("cuda", "0.1.0", eggroll::cuda::CudaBackend, &eggroll::cuda::probe_cuda);
