#include "data/data_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "system/file_calls.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
namespace ipc = boost::interprocess;

Error unusable(const NamedFile& file, const std::string& problem) {
  return file.error(problem, "a file that can be read", fmt::format("set dataset.{}=FILE", file.key));
}

Error unreadable(const NamedFile& file, int code) {
  return unusable(file, fmt::format("which cannot be read ({})", std::generic_category().message(code)));
}

// Refuses what could make the process wait when it is opened, such as a FIFO, and what has no bytes to map.
void require_bytes(const NamedFile& file) {
  std::error_code code;
  const fs::file_status status = fs::status(file.path, code);
  if (status.type() == fs::file_type::not_found) throw unusable(file, "which does not exist");
  if (code) throw unreadable(file, code.value());
  if (fs::is_directory(status)) throw unusable(file, "which is a directory");
  if (!fs::is_regular_file(status)) throw unusable(file, "which is not a regular file");
  const uint64_t size = fs::file_size(file.path, code);
  if (code) throw unreadable(file, code.value());
  if (size == 0) throw unusable(file, "which is empty");
}

// The data that the handler of SIGBUS reads; the handler may do little.
struct Watched {
  std::atomic<const std::byte*> begin{nullptr};  // last of the three to be set, first to go
  size_t size = 0;
  std::string sentence;
};
constexpr size_t kMostWatched = 64;  // mappings at once; a fault in one beyond them ends the process without a sentence
std::array<Watched, kMostWatched> watched;
std::mutex watched_lock;
struct sigaction action_before {};  // of SIGBUS

void on_bus_error(int, siginfo_t* info, void*) {
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  for (const Watched& each : watched) {
    const std::byte* begin = each.begin.load();
    if (begin == nullptr || address < begin || address >= begin + each.size) continue;
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, each.sentence.data(), each.sentence.size());
    end_process(1);
  }
  // The earlier handler of the signal takes over, because the instruction runs again.
  ::sigaction(SIGBUS, &action_before, nullptr);
  if (info->si_code <= 0) ::raise(SIGBUS);
}

// Returns the pointer that ends the watch when it is set to nullptr.
std::atomic<const std::byte*>* watch(std::span<const std::byte> bytes, const std::string& sentence) {
  const std::lock_guard<std::mutex> lock(watched_lock);
  static const bool is_installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return ::sigaction(SIGBUS, &action, &action_before) == 0;
  }();
  if (!is_installed) return nullptr;
  for (Watched& each : watched) {
    if (each.begin.load() != nullptr) continue;
    each.size = bytes.size();
    each.sentence = sentence;
    each.begin.store(bytes.data());
    return &each.begin;
  }
  return nullptr;
}

}  // namespace

struct DataFile::Mapping {
  explicit Mapping(const std::string& path)
      : file(path.c_str(), ipc::read_only), facts(now()), region(file, ipc::read_only) {}
  ~Mapping() {
    const std::lock_guard<std::mutex> lock(watched_lock);
    if (watched_begin != nullptr) watched_begin->store(nullptr);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  struct stat now() const {
    struct stat status {};
    const int result = ::fstat(file.get_mapping_handle().handle, &status);
    if (result != 0) throw ipc::interprocess_exception(ipc::error_info(errno));
    return status;
  }

  ipc::file_mapping file;
  struct stat facts;  // before a byte was read
  ipc::mapped_region region;
  std::atomic<const std::byte*>* watched_begin = nullptr;
};

DataFile::DataFile(const NamedFile& file) : path_(file.path) {
  require_bytes(file);
  try {
    mapping_ = std::make_unique<Mapping>(file.path);
  } catch (const ipc::interprocess_exception& e) {
    throw unreadable(file, e.get_native_error());
  }
  mapping_->watched_begin = watch(bytes(), fmt::format("eggroll: {}\n", changed().what()));
}

DataFile::~DataFile() = default;

std::span<const std::byte> DataFile::bytes() const {
  return {static_cast<const std::byte*>(mapping_->region.get_address()), mapping_->region.get_size()};
}

DataFile::Change DataFile::change() const {
  const struct stat now = mapping_->now();
  const struct stat& then = mapping_->facts;
  if (now.st_size != then.st_size || changed_ns(now) != changed_ns(then)) return Change::kWritten;
  return touched_ns(now) == touched_ns(then) ? Change::kNone : Change::kMaybe;
}

void DataFile::accept() const { mapping_->facts = mapping_->now(); }

Error DataFile::changed() const {
  return Error(
      fmt::format("the data file '{}' was changed while it was in use; restore it from a copy and run the same command "
                  "again, which goes on from the newest checkpoint",
                  path_));
}

}  // namespace eggroll
