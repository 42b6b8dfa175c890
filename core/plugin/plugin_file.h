// The host's knowledge of one plugin file, and the checks of its descriptor.
#ifndef EGGROLL_PLUGIN_PLUGIN_FILE_H
#define EGGROLL_PLUGIN_PLUGIN_FILE_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "eggroll/plugin.h"

namespace eggroll {

enum class Verdict { kAccepted, kRejected, kCannotRun };

// "accepted", "rejected", "cannot run".
const char* verdict_name(Verdict verdict);

// "backend", "model", "optimizer".
const char* kind_name(egg_kind kind);

// a-z first, then a-z, 0-9 and single underscores between them, at most 64 characters; not "auto", which chooses.
bool is_plugin_name(const std::string& name);

struct PluginFile {
  std::filesystem::path path;    // absolute
  bool is_of_build = false;      // it lies in a folder beside the executable
  std::optional<egg_kind> kind;  // this and the next five are unknown where the descriptor could not be read
  std::string name;
  std::string version;
  std::string build;
  std::string abi;  // "0.1"
  uint64_t spec_hash = 0;
  Verdict verdict = Verdict::kRejected;
  int32_t score = 0;   // what the probe gave; 0 unless accepted
  std::string reason;  // a sentence unless accepted

  // "backend 'avx2'".
  std::string who() const;
};

// Reads and checks the descriptor that a plugin exports, head first, calling none of its functions, and copies what it
// says into file. Returns the reason to reject it, without its path, or nothing.
std::string check_descriptor(const void* symbol, PluginFile& file);

}  // namespace eggroll

#endif
