// The header of a NumPy .npy file (format versions 1.0, 2.0 and 3.0).
#ifndef EGGROLL_DATA_NPY_H
#define EGGROLL_DATA_NPY_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/named_file.h"

namespace eggroll {

struct NpyHeader {
  uint64_t offset = 0;  // of the first token, in bytes
  uint32_t width = 0;   // bytes of a token: 1, 2 or 4
  uint64_t count = 0;   // tokens
};

// Accepts a one-dimensional array of |u1, <u2 or <u4 that fills the file exactly. Throws Error for anything else.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const NamedFile& file);

}  // namespace eggroll

#endif
