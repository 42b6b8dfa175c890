#include "shim_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "eggroll/error.h"
#include "eggroll/machine.h"
#include "eggroll/noise.h"
#include "eggroll/threads.h"
#include "shim_kernels.h"
#include "threadgroup.h"

namespace eggroll::metal {
namespace {

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

// What Apple's GPUs allow a dispatch: bytes of arguments by value, and of threadgroup memory, which no kernel declares.
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

class ShimDevice : public Device {
 public:
  std::string name() const override { return "a Metal shim on " + cpu_model(); }
  uint64_t free_memory() const override {
    return shim_faults().free_memory != 0 ? shim_faults().free_memory : machine_memory();
  }
  uint64_t largest_buffer() const override { return machine_memory(); }
  std::unique_ptr<Buffer> new_buffer(size_t bytes) override { return std::make_unique<ShimBuffer>(bytes); }

  void run(const std::vector<Dispatch>& dispatches, int32_t threads) override {
    if (workers_ == nullptr || threads != threads_) workers_ = std::make_unique<Threads>(threads);
    threads_ = threads;
    for (const Dispatch& d : dispatches) run(d);
  }

 private:
  void run(const Dispatch& d) {
    const ShimKernel& kernel = kShimKernels[static_cast<size_t>(d.kernel)];
    expect_declared(d, kernel);
    const KernelMemory memory(d);
    const auto work = [&](size_t begin, size_t end) {
      const shim::GuardedMemory scratch(d.threadgroup_memory);
      for (size_t group = begin; group < end; ++group) {
        std::memset(scratch.begin(), 0xa5, scratch.bytes());  // no kernel may count on what another has left
        const ShimCall call{memory.buffers(), scratch.begin(), static_cast<uint32_t>(group)};
        shim::run_threadgroup([&](uint32_t simdgroup, uint32_t lane) { kernel.run(call, simdgroup, lane); },
                              egg_absorb(shim_faults().seed, group));
      }
    };
    threads_ == 1 || d.groups == 1 ? work(0, d.groups) : workers_->split(d.groups, work);
  }

  std::unique_ptr<Threads> workers_;
  int32_t threads_ = 0;
};

}  // namespace

ShimFaults& shim_faults() {
  static ShimFaults faults;
  return faults;
}

const Buffer& bound_buffer(const Dispatch& dispatch, int binding) {
  for (const BoundBuffer& bound : dispatch.buffers) {
    if (bound.binding == binding) return *bound.buffer;
  }
  throw Error("the kernel " + std::string(kKernelNames[static_cast<size_t>(dispatch.kernel)]) +
              " was given no buffer " + std::to_string(binding) + " of enum Binding");
}

std::unique_ptr<Device> open_shim_device() { return std::make_unique<ShimDevice>(); }

std::unique_ptr<Device> open_device() { return open_shim_device(); }

int32_t probe_device(egg_error*) { return 1; }

}  // namespace eggroll::metal
