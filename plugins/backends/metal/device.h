// What the backend asks of a GPU and of what stands in for one: buffers that both sides see, kernels, and command
// buffers that are run to their end. apple_device.mm is Apple's.
#ifndef EGGROLL_METAL_DEVICE_H
#define EGGROLL_METAL_DEVICE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "eggroll/error.h"
#include "eggroll/plugin.h"
#include "layout.h"

namespace eggroll::metal {

// Memory that host and GPU share. The host may touch it while no command buffer runs. Zero at first.
class Buffer {
 public:
  virtual ~Buffer() = default;
  void* contents() const { return contents_; }
  size_t bytes() const { return bytes_; }

 protected:
  Buffer() = default;
  void* contents_ = nullptr;
  size_t bytes_ = 0;
};

enum class Kernel { kForward, kVotes, kRule, kMasked, kDraws, kSiteErrors, kSiteVotes, kSitePieces, kSiteRows };
constexpr const char* kKernelNames[] = {"forward",     "votes",      "rule",        "masked",   "draws",
                                        "site_errors", "site_votes", "site_pieces", "site_rows"};

struct BoundBuffer {
  Binding binding;
  const Buffer* buffer;
};

// kThreads threads in each of `groups` threadgroups. The arguments are bound as kBindArguments.
struct Dispatch {
  Kernel kernel;
  uint32_t groups;
  uint32_t threadgroup_memory;  // bytes, a multiple of 16 and at least 16
  std::vector<std::byte> arguments;
  std::vector<BoundBuffer> buffers;
};

// Thrown if the system stopped a command buffer, or did not begin it, to keep the machine usable. Memory that its
// dispatches write may then hold anything. The dispatches may be run again.
class Refused : public Error {
 public:
  explicit Refused(std::string text) : Error(std::move(text), EGG_ERROR_DEVICE) {}
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  virtual uint64_t free_memory() const = 0;     // bytes that buffers may still take
  virtual uint64_t largest_buffer() const = 0;  // bytes
  virtual std::unique_ptr<Buffer> new_buffer(size_t bytes) = 0;
  // Runs a command buffer of one dispatch and waits for its end. threads: the session's, for a device that is made of
  // processors. Returns the seconds that the GPU took. Throws Refused, or another Error if a second try cannot help.
  virtual double run(const Dispatch& dispatch, int32_t threads) = 0;
  // Names what makes the products of linears, for a session's record.
  virtual std::string matrix_units() const = 0;
  // Tokens that a slice of the forward pass has; 0: as many as its time allows.
  virtual uint32_t slice_tokens() const { return 0; }
};

// The units that make linears. kAuto: int8 if the GPU has units for it. kInt8: int8 if Metal compiles it, which is a
// way to test the kernels on an older GPU.
enum class MatrixUnits { kAuto, kInt8, kHalf };

// Reads EGGROLL_METAL_UNITS: int8, half, or nothing. Throws Error if it says something else.
MatrixUnits wanted_units();

// Opens the machine's device. Throws Error if there is none.
std::unique_ptr<Device> open_device(MatrixUnits wanted);
// See egg_plugin_descriptor.
int32_t probe_device(egg_error* why);

// The kernels' source, one text.
extern const char* const kKernelSource;

}  // namespace eggroll::metal

#endif
