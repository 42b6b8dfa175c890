// Processes through MPI: started by mpirun, or by srun with an MPI. Collectives of the standard's third version, whose
// counts are ints; larger amounts go in pieces. Needs MPI_THREAD_SERIALIZED, for the host may call from any one thread.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "eggroll/processes.h"

namespace eggroll {
namespace {

// What a process manager sets in the processes that it starts for MPI.
constexpr std::array<const char*, 3> kStarted = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"};

int32_t probe_mpi(egg_error* why) {
  if (std::any_of(kStarted.begin(), kStarted.end(), [](const char* name) { return std::getenv(name) != nullptr; })) {
    return 1;
  }
  set_error(why, EGG_ERROR_UNSUPPORTED, "this process was not started by mpirun, or by srun with an MPI");
  return 0;
}

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(std::string(what) + " failed: " + std::string(text.data(), static_cast<size_t>(length)) +
                  "; start the job again, which goes on from its last checkpoint",
              EGG_ERROR_DEVICE);
}

class Mpi : public ProcessesPlugin {
 public:
  explicit Mpi(Settings& settings) { settings.finish(); }

  void join(uint32_t& process, uint32_t& size) override {
    int level = 0;
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    if (level < MPI_THREAD_SERIALIZED) {
      throw Error(
          "this MPI supports only one thread, expected MPI_THREAD_SERIALIZED; use an MPI that is built with threads",
          EGG_ERROR_UNSUPPORTED);
    }
    require(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int mine = 0;
    int all = 0;
    require(MPI_Comm_rank(MPI_COMM_WORLD, &mine), "MPI_Comm_rank");
    require(MPI_Comm_size(MPI_COMM_WORLD, &all), "MPI_Comm_size");
    process = static_cast<uint32_t>(mine);
    size = static_cast<uint32_t>(all);
    index_ = process;
    counts_.resize(size);
    offsets_.resize(size);
  }

  void gather_begin(const void* mine, const uint64_t* sizes, void* all) override {
    if (std::accumulate(sizes, sizes + counts_.size(), uint64_t{0}) > kMostAtOnce)
      return gather_large(mine, sizes, all);
    lay_out(sizes);
    require(MPI_Iallgatherv(mine, counts_[index_], MPI_BYTE, all, counts_.data(), offsets_.data(), MPI_BYTE,
                            MPI_COMM_WORLD, &gathering_),
            "MPI_Iallgatherv");
  }

  void gather_end() override {
    // gather_begin began it, unless it was large. NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
    require(MPI_Wait(&gathering_, MPI_STATUS_IGNORE), "MPI_Iallgatherv");
  }

  void collect(const void* mine, const uint64_t* sizes, void* all) override {
    // To one process from all, each in pieces: states of large populations are more than an int counts.
    if (index_ != 0) {
      in_pieces(sizes[index_], [&](uint64_t at, int count) {
        require(MPI_Send(static_cast<const char*>(mine) + at, count, MPI_BYTE, 0, kTag, MPI_COMM_WORLD), "MPI_Send");
      });
      return;
    }
    auto* to = static_cast<char*>(all);
    std::copy_n(static_cast<const char*>(mine), sizes[0], to);
    for (size_t process = 1; process < counts_.size(); ++process) {
      to += sizes[process - 1];
      in_pieces(sizes[process], [&](uint64_t at, int count) {
        require(MPI_Recv(to + at, count, MPI_BYTE, static_cast<int>(process), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                "MPI_Recv");
      });
    }
  }

  void broadcast(void* bytes, uint64_t size) override { broadcast_from(0, static_cast<char*>(bytes), size); }

  void leave() override { require(MPI_Finalize(), "MPI_Finalize"); }

  void abort(int32_t exit_code) noexcept override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  static constexpr int kTag = 1;
  // MPI counts bytes in an int, and the states of a large population or the weights of a large model are more. `eggroll
  // check` sends more than either of these.
  static constexpr uint64_t kPiece = uint64_t{2} << 20;
  static constexpr uint64_t kMostAtOnce = uint64_t{64} << 20;  // of all processes

  template <class Function>
  static void in_pieces(uint64_t size, Function&& function) {
    for (uint64_t at = 0; at < size; at += kPiece) function(at, static_cast<int>(std::min(kPiece, size - at)));
  }

  void lay_out(const uint64_t* sizes) {
    uint64_t offset = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      counts_[i] = static_cast<int>(sizes[i]);
      offsets_[i] = static_cast<int>(offset);
      offset += sizes[i];
    }
  }

  void broadcast_from(size_t process, char* bytes, uint64_t size) {
    in_pieces(size, [&](uint64_t at, int count) {
      require(MPI_Bcast(bytes + at, count, MPI_BYTE, static_cast<int>(process), MPI_COMM_WORLD), "MPI_Bcast");
    });
  }

  // Gathers each process's bytes in turn.
  void gather_large(const void* mine, const uint64_t* sizes, void* all) {
    auto* to = static_cast<char*>(all);
    for (size_t process = 0; process < counts_.size(); to += sizes[process++]) {
      if (process == index_) std::copy_n(static_cast<const char*>(mine), sizes[process], to);
      broadcast_from(process, to, sizes[process]);
    }
  }

  uint32_t index_ = 0;
  std::vector<int> counts_;   // by process, bytes
  std::vector<int> offsets_;  // by process
  MPI_Request gathering_ = MPI_REQUEST_NULL;
};

}  // namespace
}  // namespace eggroll

EGGROLL_PROCESSES("mpi", "1.0.0", eggroll::Mpi, &eggroll::probe_mpi);
