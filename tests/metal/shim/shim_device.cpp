#include "shim_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

#include "eggroll/error.h"
#include "eggroll/machine.h"
#include "eggroll/noise.h"
#include "eggroll/threads.h"
#include "shim_kernels.h"
#include "threadgroup.h"

namespace eggroll::metal {
namespace {

static_assert(std::size(kShimKernels) == std::size(kKernelNames));

class ShimBuffer : public Buffer {
 public:
  explicit ShimBuffer(size_t bytes) : memory_(bytes) {
    contents_ = memory_.begin();
    bytes_ = bytes;
  }

 private:
  shim::GuardedMemory memory_;
};

std::string joined(const std::vector<int>& bindings) {
  std::string text;
  for (const int binding : bindings) text += " " + std::to_string(binding);
  return text;
}

// Apple's limits for a dispatch, in bytes: arguments by value, and threadgroup memory, which no kernel declares.
constexpr size_t kMostArguments = 4096;
constexpr uint32_t kMostThreadgroupMemory = 32768;

// Throws Error unless host and kernel name the same arguments and buffers, within the limits of Apple's GPUs.
void expect_declared(const Dispatch& d, const ShimKernel& kernel) {
  const std::string name = kKernelNames[static_cast<size_t>(d.kernel)];
  if (d.threadgroup_memory > kMostThreadgroupMemory || d.threadgroup_memory % 16 != 0) {
    throw Error("the kernel " + name + " was given " + std::to_string(d.threadgroup_memory) +
                " bytes of threadgroup memory, expected a multiple of 16 up to " +
                std::to_string(kMostThreadgroupMemory));
  }
  if (d.arguments.size() > kMostArguments) {
    throw Error("the kernel " + name + " was given " + std::to_string(d.arguments.size()) +
                " bytes of arguments, expected at most " + std::to_string(kMostArguments));
  }
  std::vector<int> given;
  for (const BoundBuffer& bound : d.buffers) given.push_back(bound.binding);
  std::vector<int> declared(kernel.bindings.begin(), kernel.bindings.end());
  std::sort(given.begin(), given.end());
  std::sort(declared.begin(), declared.end());
  if (d.arguments.size() == kernel.argument_bytes && given == declared) return;
  throw Error("the kernel " + name + " was given " + std::to_string(d.arguments.size()) +
              " bytes of arguments and the buffers" + joined(given) + ", expected " +
              std::to_string(kernel.argument_bytes) + " and" + joined(declared) +
              "; enum Binding in layout.h has their names");
}

// A kernel's memory by Binding. The buffer that a test has made short ends early.
class KernelMemory {
 public:
  explicit KernelMemory(const Dispatch& d) : arguments_(d.arguments.size()) {
    std::memcpy(arguments_.begin(), d.arguments.data(), d.arguments.size());
    buffers_[kBindArguments] = arguments_.begin();
    for (const BoundBuffer& bound : d.buffers) buffers_[bound.binding] = bound.buffer->contents();
    const ShimFaults& faults = shim_faults();
    if (faults.short_kernel != static_cast<int>(d.kernel)) return;
    const size_t all = bound_buffer(d, faults.short_buffer).bytes();
    const size_t bytes = (all - std::min(all, faults.short_bytes) + 15) / 16 * 16;
    short_ = std::make_unique<shim::GuardedMemory>(bytes);
    void*& shortened = buffers_[static_cast<size_t>(faults.short_buffer)];
    std::memcpy(short_->begin(), shortened, bytes);
    shortened = short_->begin();
  }
  void* const* buffers() const { return buffers_.data(); }

 private:
  shim::GuardedMemory arguments_;
  std::unique_ptr<shim::GuardedMemory> short_;
  std::array<void*, kBindings> buffers_{};
};

std::atomic<uint64_t> refusals_of_all = 0;

class ShimDevice : public Device {
 public:
  std::string name() const override { return "a Metal shim on " + cpu_model(); }
  uint64_t free_memory() const override {
    return shim_faults().free_memory != 0 ? shim_faults().free_memory : machine_memory();
  }
  uint64_t largest_buffer() const override { return machine_memory(); }
  std::unique_ptr<Buffer> new_buffer(size_t bytes) override { return std::make_unique<ShimBuffer>(bytes); }

  std::string matrix_units() const override {
    return shim_faults().has_int8_units ? "int8 matrix units of the shim" : "simdgroup matrices of the shim";
  }
  uint32_t slice_tokens() const override { return shim_faults().slice_tokens; }

  double run(const Dispatch& d, int32_t threads) override {
    if (workers_ == nullptr || threads != threads_) workers_ = std::make_unique<Threads>(threads);
    threads_ = threads;
    const auto begin = std::chrono::steady_clock::now();
    const bool refuses = is_refused(d.kernel);
    run_groups(d, refuses);
    if (refuses) {
      ++refusals_of_all;
      throw Refused("planted by a test");
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  // Refuses at most three command buffers in a row, fewer than make a call give up (pace.h).
  bool is_refused(Kernel kernel) {
    const ShimFaults& faults = shim_faults();
    if (faults.refused_kernel == static_cast<int>(kernel)) return true;
    const bool moves_weights = kernel == Kernel::kRule || kernel == Kernel::kMasked || kernel == Kernel::kSiteRows;
    if (faults.refuses_one_of == 0 || moves_weights) return false;
    const uint64_t draw = egg_absorb(faults.seed, ++draws_);
    refusals_ = draw % faults.refuses_one_of == 0 && refusals_ < 3 ? refusals_ + 1 : 0;
    return refusals_ > 0;
  }

  // If the dispatch is refused, each group is left out, stops somewhere or runs to its end.
  void run_groups(const Dispatch& d, bool refused) {
    const ShimKernel& kernel = shim_faults().has_int8_units && d.kernel == Kernel::kForward
                                   ? kShimInt8Forward
                                   : kShimKernels[static_cast<size_t>(d.kernel)];
    expect_declared(d, kernel);
    const KernelMemory memory(d);
    const auto work = [&](size_t begin, size_t end) {
      const shim::GuardedMemory scratch(d.threadgroup_memory);
      for (size_t group = begin; group < end; ++group) {
        std::memset(scratch.begin(), 0xa5, scratch.bytes());  // no kernel may count on what another has left
        const ShimCall call{memory.buffers(), scratch.begin(), static_cast<uint32_t>(group)};
        const uint64_t seed = egg_absorb(shim_faults().seed, group);
        const uint64_t fate = egg_absorb(seed, draws_);
        uint64_t rounds = shim::kAllRounds;
        if (refused && fate % 3 != 0) rounds = fate % 3 == 1 ? 0 : (fate >> 8) % 64;
        shim::run_threadgroup([&](uint32_t simdgroup, uint32_t lane) { kernel.run(call, simdgroup, lane); }, seed,
                              rounds);
      }
    };
    threads_ == 1 || d.groups == 1 ? work(0, d.groups) : workers_->split(d.groups, work);
  }

  std::unique_ptr<Threads> workers_;
  int32_t threads_ = 0;
  uint64_t draws_ = 0;     // of refusals
  uint32_t refusals_ = 0;  // one after another
};

uint32_t number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : static_cast<uint32_t>(std::stoul(text));
}

ShimFaults faults_of_environment() {
  ShimFaults faults;
  faults.slice_tokens = number_in_environment("EGGROLL_SHIM_SLICE_TOKENS");
  faults.refuses_one_of = number_in_environment("EGGROLL_SHIM_REFUSES_ONE_OF");
  return faults;
}

}  // namespace

ShimFaults& shim_faults() {
  static ShimFaults faults = faults_of_environment();
  return faults;
}

const Buffer& bound_buffer(const Dispatch& dispatch, int binding) {
  for (const BoundBuffer& bound : dispatch.buffers) {
    if (bound.binding == binding) return *bound.buffer;
  }
  throw Error("the kernel " + std::string(kKernelNames[static_cast<size_t>(dispatch.kernel)]) +
              " was given no buffer " + std::to_string(binding) + " of enum Binding");
}

uint64_t shim_refusals() { return refusals_of_all; }

std::unique_ptr<Device> open_shim_device() { return std::make_unique<ShimDevice>(); }

std::unique_ptr<Device> open_device(MatrixUnits wanted) {
  if (wanted == MatrixUnits::kInt8) shim_faults().has_int8_units = true;
  return open_shim_device();
}

int32_t probe_device(egg_error*) { return 1; }

}  // namespace eggroll::metal
