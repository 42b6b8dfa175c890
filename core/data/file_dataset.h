// The common part of datasets that come from files: a file to learn from, and a held-out part.
#ifndef EGGROLL_DATA_FILE_DATASET_H
#define EGGROLL_DATA_FILE_DATASET_H

#include <cstdint>
#include <optional>

#include "data/dataset.h"
#include "data/named_file.h"
#include "data/tokens.h"
#include "eggroll/settings.h"

namespace eggroll {

struct FileOptions {
  std::optional<NamedFile> path;
  std::optional<NamedFile> valid_path;
  std::optional<uint64_t> take;  // how many of the first tokens of path are used
  double valid_fraction = 0.0;
  std::optional<uint32_t> separator;

  const NamedFile& train() const;  // Error: path is null
  const NamedFile& valid() const;  // the file that holds the held-out part
};

// Reads path, valid_path, test_path, take, valid_fraction and separator, which is at most largest_separator or null.
FileOptions read_file_options(Settings& settings, uint32_t largest_separator);

// Opens both parts and says how many tokens each has.
Dataset open_files(const FileOptions& options, TokenFormat format);

// Sets the separator if there is one. Throws Error if the training part does not hold it.
void set_separator(const FileOptions& options, Dataset& dataset);

}  // namespace eggroll

#endif
