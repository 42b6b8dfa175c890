// Reading and writing safetensors files: 8 bytes of header size, a JSON header, then the tensors' bytes.
#ifndef EGGROLL_TRAIN_SAFETENSORS_H
#define EGGROLL_TRAIN_SAFETENSORS_H

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace eggroll {

enum class TensorType { kI8, kI32, kF32 };

struct TensorHead {
  std::string name;
  TensorType type;
  std::vector<uint64_t> shape;

  uint64_t count() const;  // of its values
  uint64_t bytes() const;  // of its data
};

// The bytes of a vector's or a span's values.
template <class Values>
std::string_view bytes_of(const Values& values) {
  return {reinterpret_cast<const char*>(std::data(values)), std::size(values) * sizeof(*std::data(values))};
}

// The data are row-major and little-endian, as many bytes as shape and type say. Somebody else owns them.
struct TensorView : TensorHead {
  std::string_view data;
};

using TensorMetadata = std::map<std::string, std::string>;

struct Safetensors {
  std::vector<TensorView> tensors;  // in the order of their data
  TensorMetadata metadata;
};

// Returns the part of the file before the tensors' data; its size is a multiple of 8. The data must follow in the order
// of `tensors`. Names must be distinct, and none may be "__metadata__".
std::string safetensors_header(const std::vector<TensorHead>& tensors, const TensorMetadata& metadata);

// The tensors point into bytes. Safe on any input: if the file is not exactly a header and the tensors that it lists,
// it throws one sentence, which begins with `what`.
Safetensors parse_safetensors(std::string_view bytes, const std::string& what);

}  // namespace eggroll

#endif
