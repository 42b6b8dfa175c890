// A file of data, mapped into memory for as long as a run reads it.
#ifndef EGGROLL_DATA_DATA_FILE_H
#define EGGROLL_DATA_DATA_FILE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/named_file.h"

namespace eggroll {

// If the file is cut short while it is mapped, a read beyond its end stops the process with a sentence and exit code 1.
class DataFile {
 public:
  // Throws Error if the file is missing, a directory, no regular file, empty or unreadable.
  explicit DataFile(const NamedFile& file);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  std::span<const std::byte> bytes() const;

  enum class Change {
    kNone,
    kMaybe,  // the owner, mode or number of names changed, or the bytes did and their time was set back
    kWritten,
  };
  // How the file has changed since it was opened. A new file under its path does not matter.
  Change change() const;

  // Makes the file's present facts those that change() compares with. The caller must have found the bytes equal.
  void accept() const;

  // The Error for a run that has read the file, if it was changed.
  Error changed() const;

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  std::string path_;
};

}  // namespace eggroll

#endif
