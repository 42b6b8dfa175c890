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
  // Error: it is missing, a directory, no regular file, empty or unreadable.
  explicit DataFile(const NamedFile& file);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  std::span<const std::byte> bytes() const;

  enum class Change {
    kNone,
    kMaybe,  // its owner, mode or number of names changed, or its bytes did and the time of that was set back
    kWritten,
  };
  // Since it was opened. What stands under its path now does not matter.
  Change change() const;

  // Makes the file's present facts those that change() compares with. Call it after finding the bytes equal.
  void accept() const;

  // The sentence for a run that read it.
  Error changed() const;

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  std::string path_;
};

}  // namespace eggroll

#endif
