#include "train/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "eggroll/error.h"

namespace eggroll {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored as they lie in memory");

constexpr const char* kMetadata = "__metadata__";
constexpr size_t kSizeBytes = 8;
constexpr uint64_t kMaxHeaderSize = uint64_t{16}
                                    << 20;  // 100,000 tensors; bounds what a foreign file can make us parse

struct TypeName {
  const char* name;
  uint64_t size;
};
constexpr std::array<TypeName, 3> kTypes = {{{"I8", 1}, {"I32", 4}, {"F32", 4}}};

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& what) : bytes_(bytes), what_(what) {}

  Safetensors parse() {
    if (bytes_.size() < kSizeBytes) fail(fmt::format("it has {} bytes, too few for a header", bytes_.size()));
    uint64_t header_size = 0;
    std::memcpy(&header_size, bytes_.data(), kSizeBytes);
    const std::string_view rest = bytes_.substr(kSizeBytes);
    if (header_size > kMaxHeaderSize) {
      fail(fmt::format("its header claims {} bytes, expected at most {}", header_size, kMaxHeaderSize));
    }
    if (header_size > rest.size()) {
      fail(fmt::format("it ends within its header of {} bytes", header_size));
    }
    data_ = rest.substr(header_size);
    // nlohmann::json, not ordered_json: that one takes quadratic time, which a hostile header could use.
    const nlohmann::json header = nlohmann::json::parse(rest.substr(0, header_size), nullptr, false);
    if (!header.is_object()) fail("its header is not a JSON object");

    Safetensors file;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        read_metadata(entry, file);
      } else {
        file.tensors.push_back(read_tensor(name, entry));
      }
    }
    check_layout(file.tensors);
    return file;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(
        fmt::format("{} is not a usable safetensors file: {}; restore it from a copy or delete it", what_, reason));
  }

  void read_metadata(const nlohmann::json& entry, Safetensors& file) const {
    if (!entry.is_object()) fail("its __metadata__ is not an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail("its __metadata__ holds something that is not text");
      file.metadata[key] = value.get<std::string>();
    }
  }

  TensorView read_tensor(const std::string& name, const nlohmann::json& entry) const {
    const auto wrong = [&](const std::string& reason) { fail(fmt::format("tensor '{}' {}", name, reason)); };
    if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets")) {
      wrong("lacks one of dtype, shape and data_offsets, or has more");
    }
    const nlohmann::json& dtype = entry["dtype"];
    size_t type = 0;
    while (type < kTypes.size() && dtype != kTypes[type].name) ++type;
    if (type == kTypes.size()) wrong("is not of type I8, I32 or F32");

    TensorView tensor{{name, static_cast<TensorType>(type), {}}, {}};
    uint64_t size = kTypes[type].size;
    if (!entry["shape"].is_array()) wrong("has a shape that is no list");
    for (const nlohmann::json& extent : entry["shape"]) {
      if (!extent.is_number_unsigned()) wrong("has a shape that is not of whole numbers");
      tensor.shape.push_back(extent.get<uint64_t>());
      if (__builtin_mul_overflow(size, tensor.shape.back(), &size)) wrong("has a shape too large for any file");
    }

    const nlohmann::json& offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      wrong("has data_offsets that are not two whole numbers");
    }
    const uint64_t begin = offsets[0].get<uint64_t>();
    const uint64_t end = offsets[1].get<uint64_t>();
    if (begin > end || end - begin != size) {
      wrong(fmt::format("has the data_offsets {} and {}, which are not the {} bytes of its shape apart", begin, end,
                        size));
    }
    if (end > data_.size()) {
      wrong(fmt::format("ends at byte {} of the data, of which the file has {}: it is truncated", end, data_.size()));
    }
    tensor.data = data_.substr(begin, size);
    return tensor;
  }

  // Sorts by place; the tensors must cover the data without gap and overlap.
  void check_layout(std::vector<TensorView>& tensors) const {
    std::stable_sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) {
      return std::pair(a.data.data(), a.data.size()) < std::pair(b.data.data(), b.data.size());
    });
    const char* expected = data_.data();
    for (const TensorView& tensor : tensors) {
      if (tensor.data.data() < expected) fail(fmt::format("tensor '{}' overlaps another", tensor.name));
      if (tensor.data.data() > expected) fail(fmt::format("there is a gap before tensor '{}'", tensor.name));
      expected += tensor.data.size();
    }
    const auto left = static_cast<size_t>(data_.data() + data_.size() - expected);
    if (left > 0) fail(fmt::format("its last {} bytes belong to no tensor", left));
  }

  std::string_view bytes_;
  const std::string& what_;
  std::string_view data_;
};

}  // namespace

uint64_t TensorHead::count() const {
  uint64_t values = 1;
  for (const uint64_t extent : shape) values *= extent;
  return values;
}

uint64_t TensorHead::bytes() const { return count() * kTypes[static_cast<size_t>(type)].size; }

std::string safetensors_header(const std::vector<TensorHead>& tensors, const TensorMetadata& metadata) {
  nlohmann::ordered_json header;
  header[kMetadata] = metadata;
  uint64_t offset = 0;
  for (const TensorHead& tensor : tensors) {
    if (header.contains(tensor.name)) {
      throw Error(
          fmt::format("two tensors are named '{}', expected distinct names; rename one in its plugin", tensor.name));
    }
    const uint64_t end = offset + tensor.bytes();
    header[tensor.name] = {{"dtype", kTypes[static_cast<size_t>(tensor.type)].name},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins aligned
  const uint64_t size = text.size();
  std::string bytes(kSizeBytes, '\0');
  std::memcpy(bytes.data(), &size, kSizeBytes);
  return bytes + text;
}

Safetensors parse_safetensors(std::string_view bytes, const std::string& what) { return Parser(bytes, what).parse(); }

}  // namespace eggroll
