// Opens token files with Boost.Interprocess; every refusal is a sentence.
#include "data/tokens.h"

#include <algorithm>
#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <filesystem>
#include <system_error>

#include "data/npy.h"

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

std::shared_ptr<const ipc::mapped_region> map_file(const NamedFile& file) {
  std::error_code code;
  const fs::file_status status = fs::status(file.path, code);
  if (status.type() == fs::file_type::not_found) throw unusable(file, "which does not exist");
  if (code) throw unreadable(file, code.value());
  if (fs::is_directory(status)) throw unusable(file, "which is a directory");
  if (!fs::is_regular_file(status)) throw unusable(file, "which is not a regular file");
  const uint64_t size = fs::file_size(file.path, code);
  if (code) throw unreadable(file, code.value());
  if (size == 0) throw unusable(file, "which is empty");
  try {
    const ipc::file_mapping mapping(file.path.c_str(), ipc::read_only);
    return std::make_shared<const ipc::mapped_region>(mapping, ipc::read_only);
  } catch (const ipc::interprocess_exception& e) {
    throw unreadable(file, e.get_native_error());
  }
}

}  // namespace

uint32_t Tokens::max() const {
  return visit([n = size_](auto reader) {
    auto largest = decltype(reader[0]){0};
    for (uint64_t i = 0; i < n; ++i) largest = std::max(largest, reader[i]);
    return static_cast<uint32_t>(largest);
  });
}

uint64_t Tokens::count(uint32_t token) const {
  return visit([n = size_, token](auto reader) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; ++i) found += reader[i] == token ? 1U : 0U;
    return found;
  });
}

Tokens open_tokens(const NamedFile& file, TokenFormat format) {
  const std::shared_ptr<const ipc::mapped_region> region = map_file(file);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(region->get_address()), region->get_size());
  if (format == TokenFormat::kNpy) {
    const NpyHeader header = parse_npy_header(bytes, file);
    return Tokens(region, bytes.data() + header.offset, header.count, header.width, file.path);
  }
  const uint32_t width = format == TokenFormat::kUint8 ? 1 : format == TokenFormat::kUint16 ? 2 : 4;
  if (bytes.size() % width != 0) {
    throw file.error(fmt::format("whose {} bytes are not a multiple of {}", bytes.size(), width),
                     fmt::format("whole uint{} tokens", 8 * width), "correct dataset.dtype or the file");
  }
  return Tokens(region, bytes.data(), bytes.size() / width, width, file.path);
}

}  // namespace eggroll
