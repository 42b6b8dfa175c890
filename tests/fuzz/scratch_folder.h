// A folder for readers that take files. It is in memory where the system allows that, because a fuzzer writes thousands
// of files.
#ifndef EGGROLL_TESTS_FUZZ_SCRATCH_FOLDER_H
#define EGGROLL_TESTS_FUZZ_SCRATCH_FOLDER_H

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace eggroll::test {

class ScratchFolder {
 public:
  ScratchFolder() {
    const std::filesystem::path memory = "/dev/shm";
    const bool has_memory = ::access(memory.c_str(), W_OK) == 0;
    std::string pattern =
        ((has_memory ? memory : std::filesystem::temp_directory_path()) / "eggroll-fuzz-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

  // Returns the file's path.
  std::filesystem::path put(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace eggroll::test

#endif
