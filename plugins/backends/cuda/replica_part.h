// What the parts of a replica share: its plan, its device and CUDA streams, and threads of the host.
#ifndef EGGROLL_CUDA_REPLICA_PART_H
#define EGGROLL_CUDA_REPLICA_PART_H

#include <climits>
#include <vector>

#include "device.h"
#include "eggroll/threads.h"
#include "replica_plan.h"
#include "update.h"

namespace eggroll::cuda {

constexpr size_t kStagingBytes = size_t{8} << 20;  // of locked memory, for copies between host and device

struct ReplicaDevice {
  ReplicaDevice(ReplicaPlan its_own, const egg_session_spec& spec);
  void activate() const { check(cudaSetDevice(own.device), "be selected"); }
  // Waits until no work is under way.
  void finish() const;
  // Copies from the device through locked memory. what: names the copy in an error message.
  void bring(void* to, const void* from, size_t bytes, const char* what);

  ReplicaPlan own;
  const egg_rule* rule;
  Threads threads;
  Stream stream{INT_MIN};
  Stream beside{INT_MAX};     // for draws ahead, and for members that run while streams of sites do
  Stream sending{0};          // for the data of calls, while noise is made
  Stream receiving{0};        // for losses
  HostArray<int8_t> staging;  // for states, weights and slots that calls set or get
};

// Owns a launch's jobs.
template <class Job>
struct Jobs : PieceList<Job> {
  JobList<Job> on_device() const { return {array.get(), static_cast<uint32_t>(this->jobs.size()), this->pieces}; }

  DeviceArray<Job> array;
};

class ReplicaPart {
 public:
  ReplicaPart(const ReplicaPart&) = delete;
  ReplicaPart& operator=(const ReplicaPart&) = delete;

 protected:
  // The planned array of a name, of whatever elements its owner keeps there.
  struct Planned {
    size_t bytes;
    template <class T>
    operator DeviceArray<T>() const {
      return DeviceArray<T>(bytes / sizeof(T));
    }
  };

  explicit ReplicaPart(ReplicaDevice& device)
      : device_(device), own_(device.own), plan_(device.own.plan), threads_(device.threads), stream_(device.stream) {}
  ~ReplicaPart() = default;

  Planned take(Area area) const { return {own_.memory.bytes(area)}; }
  // The same, beginning with this list.
  template <class T>
  DeviceArray<T> take(Area area, const std::vector<T>& list) const {
    DeviceArray<T> array = take(area);
    put(list, array);
    return array;
  }
  template <class T>
  void put(const std::vector<T>& list, DeviceArray<T>& array) const {
    array.upload(list.data(), list.size(), stream_);
    check(cudaStreamSynchronize(stream_), "receive data");
  }

  ReplicaDevice& device_;
  const ReplicaPlan& own_;
  const Plan& plan_;
  Threads& threads_;
  const cudaStream_t stream_;
};

}  // namespace eggroll::cuda

#endif
