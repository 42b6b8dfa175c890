#include "train/run_folder.h"

#include <fmt/format.h>

#include "config/yaml.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {

void write_config(const RunFolder& folder, const ConfigNode& config) {
  write_atomically(folder.config(), sealed_text(to_yaml(config)));
}

ConfigNode read_config(const RunFolder& folder) {
  const std::string text = read_file(folder.config(), Links::kRefused);
  if (seal_of_text(text) == Seal::kBroken) {
    throw Error(
        fmt::format("{} has changed since it was written: the sha256 in its first line is not that of the "
                    "rest; restore it from a copy, or remove that line where the change is meant",
                    folder.config().string()));
  }
  return parse_yaml(text, folder.config().string());
}

}  // namespace eggroll
