// The input is a .npy file of tokens.
#include "data/npy.h"
#include "fuzz/input.h"
#include "fuzz/outcome.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  accepts([&] {
    const NpyHeader header = parse_npy_header({reinterpret_cast<const std::byte*>(data), size}, {"path", "input.npy"});
    require(header.width == 1 || header.width == 2 || header.width == 4, "another width");
    require(header.offset <= size && header.count * header.width == size - header.offset, "tokens beyond the file");
  });
  return 0;
}
