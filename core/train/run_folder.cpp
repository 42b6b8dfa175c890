#include "train/run_folder.h"

#include <fmt/format.h>

#include <cstdint>

#include "config/yaml.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {
namespace {

constexpr uint64_t kLargestConfig = uint64_t{16} << 20;  // bytes

}  // namespace

void write_config(const RunFolder& folder, const ConfigNode& config) {
  write_atomically(folder.config(), sealed_text(to_yaml(config)));
}

ConfigNode read_config(const RunFolder& folder) {
  const std::string text = read_bounded(folder.config(), kLargestConfig);
  if (seal_of_text(text) == Seal::kBroken) {
    throw Error(
        fmt::format("{} has changed since it was written: the sha256 in its first line is not that of the "
                    "rest; restore it from a copy, or remove that line where the change is meant",
                    folder.config().string()));
  }
  ConfigNode config = parse_yaml(text, folder.config().string());
  if (config.kind() == ConfigNode::Kind::kMap) return config;
  throw Error(fmt::format("{} holds {}, expected a run's settings; restore it from a copy", folder.config().string(),
                          shown_value(config)));
}

}  // namespace eggroll
