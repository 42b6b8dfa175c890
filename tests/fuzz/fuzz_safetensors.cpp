// The input is a safetensors file.
#include <optional>

#include "fuzz/input.h"
#include "fuzz/outcome.h"
#include "train/safetensors.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::optional<Safetensors> file;
  if (!accepts([&] { file = parse_safetensors(text_of(data, size), "input"); })) return 0;
  must_accept("a file that was read and written again", [&] {
    std::string bytes = safetensors_header({file->tensors.begin(), file->tensors.end()}, file->metadata);
    for (const TensorView& tensor : file->tensors) bytes += tensor.data;
    const Safetensors again = parse_safetensors(bytes, "written");
    require(again.metadata == file->metadata, "other metadata");
    require(again.tensors.size() == file->tensors.size(), "another number of tensors");
    for (size_t i = 0; i < again.tensors.size(); ++i) {
      const TensorView& a = file->tensors[i];
      const TensorView& b = again.tensors[i];
      require(a.name == b.name && a.type == b.type && a.shape == b.shape && a.data == b.data, "another " + a.name);
    }
  });
  return 0;
}
