// The input as text, and a folder for readers that take files.
#ifndef EGGROLL_TESTS_FUZZ_INPUT_H
#define EGGROLL_TESTS_FUZZ_INPUT_H

#include <cstdint>

#include "support/scratch_folder.h"

namespace eggroll::test {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// In memory where the system allows that, because a fuzzer writes thousands of files.
inline const ScratchFolder& scratch() {
  static const std::filesystem::path memory = "/dev/shm";
  static const ScratchFolder folder(::access(memory.c_str(), W_OK) == 0 ? memory
                                                                        : std::filesystem::temp_directory_path());
  return folder;
}

}  // namespace eggroll::test

#endif
