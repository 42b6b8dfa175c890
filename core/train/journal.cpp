#include "train/journal.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "eggroll/error.h"
#include "record/seal.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the journal is stored as it lies in memory");

constexpr std::string_view kMagic("EGGJRNL\0", 8);
constexpr uint32_t kVersion = 2;
constexpr size_t kHashSize = 64;
constexpr size_t kHeaderSize = 8 + 4 + 4 + kHashSize + 4;

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <class T>
T get(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

constexpr size_t kFitnessOffset = 8 + 8 + 8;

uint64_t entry_size(uint32_t pairs) { return kFitnessOffset + uint64_t{pairs} + 4; }

std::string header_of(uint32_t pairs, const std::string& config_hash) {
  std::string bytes(kMagic);
  put(bytes, kVersion);
  put(bytes, pairs);
  bytes += config_hash;
  bytes.resize(kHeaderSize - 4, '\0');
  put(bytes, crc_of(bytes));
  return bytes;
}

bool is_whole(std::string_view bytes) {
  return get<uint32_t>(bytes, bytes.size() - 4) == crc_of(bytes.substr(0, bytes.size() - 4));
}

struct JournalHeader {
  uint32_t pairs;
  std::string config_hash;
};

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw Error(
      fmt::format("{} {}; restore it from a copy or delete the run's folder to start over", path.string(), reason));
}

// Returns the bytes read. They are fewer than `size` only if the file ends before.
std::string read_some(std::ifstream& file, const fs::path& path, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (file.bad()) throw file_error("read", path, EIO);
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

std::ifstream open_to_read(const fs::path& path) {
  open_regular(path, O_RDONLY, "read", Links::kRefused);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw file_error("read", path, errno);
  return file;
}

uint64_t size_of(const fs::path& path) {
  std::error_code failure;
  const uint64_t size = fs::file_size(path, failure);
  if (failure) throw file_error("read", path, failure.value());
  return size;
}

JournalHeader read_header(std::ifstream& file, const fs::path& path) {
  const std::string bytes = read_some(file, path, 0, kHeaderSize);
  if (std::string_view(bytes).substr(0, kMagic.size()) != kMagic.substr(0, bytes.size())) {
    fail(path, "is no journal of eggroll");
  }
  if (bytes.size() < kHeaderSize) fail(path, fmt::format("ends within its header, after {} bytes", bytes.size()));
  const uint32_t version = get<uint32_t>(bytes, 8);
  if (version != kVersion) {
    throw Error(fmt::format("{} has journal version {}, this eggroll reads version {}; use the eggroll that wrote it",
                            path.string(), version, kVersion));
  }
  if (!is_whole(bytes)) fail(path, "has a damaged header");
  const std::string hash = bytes.substr(16, kHashSize);
  return {get<uint32_t>(bytes, 12), hash.substr(0, hash.find('\0'))};
}

// Checks that the file can go on at first_step; at `origin`, begins one that is missing or too short. Returns its path.
fs::path prepared(const fs::path& path, uint32_t pairs, const std::string& config_hash, uint64_t first_step,
                  uint64_t origin) {
  if (config_hash.size() > kHashSize) {
    throw Error(fmt::format("the config hash '{}' is longer than {} digits; shorten it", config_hash, kHashSize));
  }
  std::error_code failure;
  const bool missing = fs::status(path, failure).type() == fs::file_type::not_found;
  if (missing || (first_step == origin && size_of(path) < kHeaderSize)) {
    if (first_step > origin) fail(path, fmt::format("is missing, expected the steps before {}", first_step));
    write_atomically(path, header_of(pairs, config_hash));
    return path;
  }
  std::ifstream file = open_to_read(path);
  const JournalHeader header = read_header(file, path);
  if (header.pairs != pairs || header.config_hash != config_hash) {
    fail(path, fmt::format("is another run's: it has {} pairs and the config hash {}, expected {} and {}", header.pairs,
                           header.config_hash, pairs, config_hash));
  }
  const uint64_t entries = (size_of(path) - kHeaderSize) / entry_size(pairs);
  const uint64_t before = first_step - origin;
  if (entries < before) fail(path, fmt::format("holds {} steps, expected at least {}", entries, before));
  if (before > 0) {
    const std::string last = read_some(file, path, kHeaderSize + (before - 1) * entry_size(pairs), entry_size(pairs));
    if (!is_whole(last) || get<uint64_t>(last, 0) != first_step - 1) {
      fail(path, fmt::format("is damaged at step {}", first_step - 1));
    }
  }
  return path;
}

}  // namespace

JournalWriter::JournalWriter(const fs::path& path, uint32_t pairs, const std::string& config_hash, uint64_t first_step,
                             uint64_t origin)
    : pairs_(pairs), next_step_(first_step), file_(prepared(path, pairs, config_hash, first_step, origin)) {
  file_.truncate_to(kHeaderSize + (first_step - origin) * entry_size(pairs));
}

void JournalWriter::append(uint64_t step, const std::optional<egg_evaluation>& made, std::span<const int8_t> fitness) {
  if (step != next_step_ || fitness.size() != pairs_) {
    throw Error(fmt::format("the journal got step {} with {} pairs, expected step {} with {}; report this as a bug",
                            step, fitness.size(), next_step_, pairs_));
  }
  const egg_evaluation evaluation = made.value_or(egg_evaluation{step, 0, 0});
  if (evaluation.step != step) {
    throw Error(fmt::format("the journal got an evaluation after {} steps before step {}; report this as a bug",
                            evaluation.step, step));
  }
  std::string& bytes = bytes_;
  bytes.clear();
  put(bytes, step);
  put(bytes, evaluation.loss);
  put(bytes, evaluation.tokens);
  bytes.append(reinterpret_cast<const char*>(fitness.data()), fitness.size());
  put(bytes, crc_of(bytes));
  file_.append(bytes);
  ++next_step_;
}

JournalReader::JournalReader(const fs::path& path, uint64_t origin)
    : path_(path), file_(open_to_read(path)), origin_(origin), step_(origin) {
  const JournalHeader header = read_header(file_, path_);
  pairs_ = header.pairs;
  config_hash_ = header.config_hash;
  const uint64_t rest = size_of(path_) - kHeaderSize;
  entries_ = rest / entry_size(pairs_);
  torn_ = rest % entry_size(pairs_) != 0;
}

bool JournalReader::next(JournalEntry& entry) {
  const uint64_t entry_number = step_ - origin_;
  if (entry_number == entries_) return false;
  const std::string bytes =
      read_some(file_, path_, kHeaderSize + entry_number * entry_size(pairs_), entry_size(pairs_));
  if (bytes.size() < entry_size(pairs_) || !is_whole(bytes)) {
    if (entry_number + 1 < entries_ || torn_) fail(path_, fmt::format("is damaged at step {}", step_));
    entries_ = entry_number;
    torn_ = true;
    return false;
  }
  entry.step = get<uint64_t>(bytes, 0);
  if (entry.step != step_) {
    fail(path_, fmt::format("is damaged: it has step {} where step {} belongs", entry.step, step_));
  }
  const egg_evaluation evaluation{entry.step, get<int64_t>(bytes, 8), get<uint64_t>(bytes, 16)};
  entry.evaluation = evaluation.tokens > 0 ? std::optional(evaluation) : std::nullopt;
  const std::string_view fitness = std::string_view(bytes).substr(kFitnessOffset, pairs_);
  entry.fitness.assign(fitness.begin(), fitness.end());
  ++step_;
  return true;
}

}  // namespace eggroll
