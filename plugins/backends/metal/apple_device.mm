// Apple's GPU: the one file of the backend that speaks Objective-C.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "compiler_message.h"
#include "device.h"
#include "eggroll/error.h"
#include "layout.h"

namespace eggroll::metal {
namespace {

std::string text_of(NSError* error) {
  return error == nil ? "it gives no reason" : error.localizedDescription.UTF8String;
}

[[noreturn]] void fail(const std::string& what, NSError* error) {
  throw Error("the GPU failed to " + what + ": " + text_of(error) + "; resume the run, or take another backend",
              EGG_ERROR_DEVICE);
}

[[noreturn]] void fail_to_compile(const std::string& what, NSError* error) {
  constexpr size_t kMost = 600;
  throw Error("Metal does not compile " + what + ": " + first_error(text_of(error), kMost) + "; take another backend",
              EGG_ERROR_INTERNAL);
}

// Whether the fault lies in what the command buffer asks for: a second try, or less work, cannot help.
bool is_final(NSInteger code) {
  switch (code) {
    case MTLCommandBufferErrorPageFault:
    case MTLCommandBufferErrorNotPermitted:
    case MTLCommandBufferErrorOutOfMemory:
    case MTLCommandBufferErrorInvalidResource:
    case MTLCommandBufferErrorMemoryless:
    case MTLCommandBufferErrorDeviceRemoved:
    case MTLCommandBufferErrorStackOverflow:
      return true;
    default:  // it took too long, kept the screen waiting, or came after another one that did
      return false;
  }
}

// Named by number, so that an SDK of macOS 14 builds this file.
constexpr auto kMetal4 = static_cast<MTLLanguageVersion>(4 << 16);
constexpr auto kApple10 = static_cast<MTLGPUFamily>(1010);

// The M5 is the first that has the units. Metal's compiler knows their products from macOS 26.2 on, and makes them of
// other instructions for an older GPU.
bool takes_int8(id<MTLDevice> device, MatrixUnits wanted) {
  if (wanted == MatrixUnits::kHalf) return false;
  if (@available(macOS 26.2, *)) return wanted == MatrixUnits::kInt8 || [device supportsFamily:kApple10];
  return false;
}

class AppleBuffer : public Buffer {
 public:
  explicit AppleBuffer(id<MTLBuffer> buffer) : buffer_(buffer) {
    contents_ = buffer.contents;
    bytes_ = buffer.length;
  }
  id<MTLBuffer> get() const { return buffer_; }

 private:
  id<MTLBuffer> buffer_;
};

class AppleDevice : public Device {
 public:
  AppleDevice(id<MTLDevice> device, MatrixUnits wanted) : device_(device) {
    make_queue();
    if (takes_int8(device, wanted)) {
      try {
        compile(std::string("#define EGG_INT8_UNITS\n") + kKernelSource, kMetal4);
        matrix_units_ = "int8 matrix units with sums in int32";
        return;
      } catch (const Error& error) {
        pipelines_.clear();
        constexpr size_t kMost = 200;
        matrix_units_ = " (not on int8 matrix units: " + first_error(error.what(), kMost) + ")";
      }
    }
    compile(kKernelSource, MTLLanguageVersion3_1);
    matrix_units_ = "simdgroup matrices with exact sums of " + std::to_string(kBlockInputs) + " inputs" + matrix_units_;
  }

  std::string matrix_units() const override { return matrix_units_; }
  std::string name() const override {
    @autoreleasepool {
      return device_.name.UTF8String;
    }
  }
  uint64_t free_memory() const override {
    const uint64_t all = device_.recommendedMaxWorkingSetSize;
    const uint64_t used = device_.currentAllocatedSize;
    return used < all ? all - used : 0;
  }
  uint64_t largest_buffer() const override { return device_.maxBufferLength; }

  std::unique_ptr<Buffer> new_buffer(size_t bytes) override {
    @autoreleasepool {
      id<MTLBuffer> buffer = [device_ newBufferWithLength:bytes options:MTLResourceStorageModeShared];
      if (buffer == nil) {
        throw Error("the GPU has no room for a buffer of " + std::to_string(bytes) +
                        " bytes; use a smaller population or model",
                    EGG_ERROR_MEMORY);
      }
      return std::make_unique<AppleBuffer>(buffer);
    }
  }

  double run(const Dispatch& d, int32_t) override {
    @autoreleasepool {
      id<MTLCommandBuffer> commands = [queue_ commandBuffer];
      id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
      if (encoder == nil) fail("make a command buffer", nil);
      [encoder setComputePipelineState:pipelines_[static_cast<size_t>(d.kernel)]];
      [encoder setBytes:d.arguments.data() length:d.arguments.size() atIndex:kBindArguments];
      for (const BoundBuffer& bound : d.buffers) {
        [encoder setBuffer:static_cast<const AppleBuffer*>(bound.buffer)->get() offset:0 atIndex:bound.binding];
      }
      [encoder setThreadgroupMemoryLength:d.threadgroup_memory atIndex:0];
      [encoder dispatchThreadgroups:MTLSizeMake(d.groups, 1, 1) threadsPerThreadgroup:MTLSizeMake(kThreads, 1, 1)];
      [encoder endEncoding];
      const auto begin = std::chrono::steady_clock::now();
      [commands commit];
      [commands waitUntilCompleted];
      const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
      if (commands.status == MTLCommandBufferStatusCompleted) {
        refusals_ = 0;
        const double seconds = commands.GPUEndTime - commands.GPUStartTime;
        return seconds > 0 ? seconds : wall.count();  // a virtual GPU may not know
      }
      if (is_final(commands.error.code)) fail("run its kernels", commands.error);
      // The system may ignore all that comes from a queue that has failed.
      const std::string why = text_of(commands.error);
      make_queue();
      // What the screen waits for takes as long as somebody drags a window, say.
      constexpr std::chrono::milliseconds kLongest(3000);
      std::this_thread::sleep_for(std::min(kLongest, std::chrono::milliseconds(100) * (1 << std::min(refusals_, 5U))));
      ++refusals_;
      throw Refused(why);
    }
  }

 private:
  // Fills pipelines_. Throws Error where Metal refuses the text, or a kernel does not run as it must.
  void compile(const std::string& text, MTLLanguageVersion version) {
    NSError* error = nil;
    MTLCompileOptions* options = [MTLCompileOptions new];
    // Sums of the matrix units are exact whatever the order, but nothing else may be taken for granted.
    options.fastMathEnabled = NO;
#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
    if (@available(macOS 15.0, *)) options.mathMode = MTLMathModeSafe;
#endif
    options.languageVersion = version;
    id<MTLLibrary> library = [device_ newLibraryWithSource:[NSString stringWithUTF8String:text.c_str()]
                                                   options:options
                                                     error:&error];
    if (library == nil) fail_to_compile("the kernels", error);
    for (const char* name : kKernelNames) {
      id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:name]];
      id<MTLComputePipelineState> pipeline =
          function == nil ? nil : [device_ newComputePipelineStateWithFunction:function error:&error];
      if (pipeline == nil) fail_to_compile(std::string("the kernel ") + name, error);
      if (pipeline.staticThreadgroupMemoryLength + kThreadgroupMemory > device_.maxThreadgroupMemoryLength) {
        throw Error(
            "the kernel " + std::string(name) + " takes " + std::to_string(pipeline.staticThreadgroupMemoryLength) +
                " bytes of threadgroup memory beside " + std::to_string(kThreadgroupMemory) + ", and the GPU has " +
                std::to_string(device_.maxThreadgroupMemoryLength) + "; take another backend",
            EGG_ERROR_UNSUPPORTED);
      }
      if (pipeline.threadExecutionWidth != kLanes || pipeline.maxTotalThreadsPerThreadgroup < kThreads) {
        throw Error("the kernel " + std::string(name) + " runs with " + std::to_string(pipeline.threadExecutionWidth) +
                        " lanes and at most " + std::to_string(pipeline.maxTotalThreadsPerThreadgroup) +
                        " threads, expected " + std::to_string(kLanes) + " and " + std::to_string(kThreads) +
                        "; take another backend",
                    EGG_ERROR_UNSUPPORTED);
      }
      pipelines_.push_back(pipeline);
    }
  }

  void make_queue() {
    queue_ = [device_ newCommandQueue];
    if (queue_ == nil) fail("make a command queue", nil);
  }

  id<MTLDevice> device_;
  id<MTLCommandQueue> queue_;
  std::vector<id<MTLComputePipelineState>> pipelines_;  // by Kernel
  std::string matrix_units_;
  uint32_t refusals_ = 0;  // one after another
};

// Apple7 is the M1: the first with simdgroup matrices.
bool is_fit(id<MTLDevice> device) { return device != nil && [device supportsFamily:MTLGPUFamilyApple7]; }

// A program without windows gets no default device in some sessions, over SSH or in the background, and all devices in
// others, so it asks for both.
id<MTLDevice> find_device() {
  // Without it the system stops kernels that do not let the screen's work in within milliseconds.
  setenv("AGX_RELAX_CDM_CTXSTORE_TIMEOUT", "1", 0);
  for (id<MTLDevice> device in MTLCopyAllDevices()) {
    if (is_fit(device)) return device;
  }
  return MTLCreateSystemDefaultDevice();
}

std::string unfit(id<MTLDevice> device) {
  const std::string found = device == nil ? "none" : device.name.UTF8String;
  return "needs a GPU of the family Apple7 or later, an M1 or newer, and Metal shows " + found;
}

}  // namespace

std::unique_ptr<Device> open_device(MatrixUnits wanted) {
  @autoreleasepool {
    id<MTLDevice> device = find_device();
    if (!is_fit(device)) throw Error("the metal backend " + unfit(device) + "; take another backend", EGG_ERROR_DEVICE);
    return std::make_unique<AppleDevice>(device, wanted);
  }
}

// Below every processor's: `auto` takes it when a Mac has shown that it conforms.
int32_t probe_device(egg_error* why) {
  constexpr int32_t kScore = 50;
  @autoreleasepool {
    id<MTLDevice> device = find_device();
    if (is_fit(device)) return kScore;
    std::snprintf(why->text, sizeof(why->text), "%s", unfit(device).c_str());
    return 0;
  }
}

}  // namespace eggroll::metal
