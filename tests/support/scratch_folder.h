// A folder that goes with the object.
#ifndef EGGROLL_TESTS_SUPPORT_SCRATCH_FOLDER_H
#define EGGROLL_TESTS_SUPPORT_SCRATCH_FOLDER_H

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "eggroll/error.h"

namespace eggroll::test {

class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& above = std::filesystem::temp_directory_path()) {
    std::string pattern = (above / "eggroll-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error("no folder can be made in " + above.string());
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

  // Writes the file and the folders that it lies in; returns its path.
  std::filesystem::path put(const std::filesystem::path& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace eggroll::test

#endif
