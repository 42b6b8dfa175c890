// A recording of the calls by which a process and its children change the files of one folder. record_calls.cpp, a
// library that is loaded before the C library, writes it; disk.h reads it.
#ifndef EGGROLL_TESTS_DAMAGE_RECORDING_H
#define EGGROLL_TESTS_DAMAGE_RECORDING_H

#include <cstdint>

namespace eggroll::test {

// Environment of a recorded process: the folder, an absolute path without links, and the recording, which is outside.
inline constexpr const char* kRecordedFolder = "EGGROLL_RECORDED_FOLDER";
inline constexpr const char* kRecording = "EGGROLL_RECORDING";

enum class Call : uint32_t {
  kCreate,    // `first` may have been created; it is a regular file
  kFolder,    // `first` was created
  kLink,      // `second` is one more name of `first`
  kRename,    // `first` has become `second`
  kRemove,    // `first` is gone
  kWrite,     // the data from `at` on
  kTruncate,  // to `at` bytes
  kSync,      // a file, or a folder
  kSaid       // the data are text that standard output got
};

// One call: this, then the texts `first` and `second`, then the data.
struct CallHead {
  Call call;
  uint32_t first_size;
  uint32_t second_size;
  uint32_t data_size;
  uint64_t inode;  // of the file that was created, written, truncated or synced
  uint64_t at;
};

}  // namespace eggroll::test

#endif
