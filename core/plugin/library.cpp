#include "plugin/library.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <boost/dll/shared_library.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "plugin/watchdog.h"
#include "system/machine.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// By canonical path. Never destroyed, so that no library is unloaded: an abandoned thread may still run in one. Never
// copied, because a copy would be loaded again in Boost's default mode.
std::map<fs::path, std::unique_ptr<boost::dll::shared_library>>& libraries() {
  static auto* all = new std::map<fs::path, std::unique_ptr<boost::dll::shared_library>>();
  return *all;
}

// The system's own words, which Boost wraps: "... (dlerror system message: WORDS): Bad file descriptor".
std::string load_failure(const std::string& text, const fs::path& path) {
  const std::string before = "(dlerror system message: ";
  const size_t begin = text.find(before);
  const size_t end = text.rfind("):");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return text;
  std::string words = text.substr(begin + before.size(), end - begin - before.size());
  const std::string prefix = path.string() + ": ";
  return words.starts_with(prefix) ? words.substr(prefix.size()) : words;
}

// The head of an ELF file, which tells more than the system's words for a file of another processor.
struct ElfHead {
  std::array<unsigned char, 16> ident;  // 0x7f E L F, then 1 or 2 for 32 or 64 bits, 1 or 2 for the order of bytes
  uint16_t type;
  uint16_t machine;
};

std::optional<ElfHead> elf_head(const fs::path& path) {
  ElfHead head{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&head), sizeof(head))) return std::nullopt;
  constexpr std::array<unsigned char, 4> kMagic = {0x7f, 'E', 'L', 'F'};
  if (!std::equal(kMagic.begin(), kMagic.end(), head.ident.begin())) return std::nullopt;
  return head;
}

// Whether the file is a library of another processor than this program.
bool is_foreign(const fs::path& path) {
  const std::optional<ElfHead> own = elf_head(executable_path());
  const std::optional<ElfHead> other = elf_head(path);
  return own && other &&
         (own->machine != other->machine || own->ident[4] != other->ident[4] || own->ident[5] != other->ident[5]);
}

// The system refuses a file that does not fit into the memory in the same words as a damaged one.
const char* other_cure() {
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? ", or raise the limit of this process's memory (ulimit -v)" : "";
}

}  // namespace

LoadedPlugin load_plugin(PluginFile& file) {
  std::error_code error;
  const fs::path canonical = fs::canonical(file.path, error);
  if (error || !fs::is_regular_file(canonical, error)) return {nullptr, "not a readable file; remove it"};
  auto& library = libraries()[canonical];
  try {
    if (library == nullptr) {
      using boost::dll::load_mode::rtld_local;
      using boost::dll::load_mode::rtld_now;
      auto loaded = std::make_unique<boost::dll::shared_library>();
      loaded->load(canonical, rtld_now | rtld_local);
      library = std::move(loaded);
    }
    if (!library->has(EGG_PLUGIN_SYMBOL)) {
      return {nullptr, fmt::format("exports no symbol {}; build it with eggroll_add_plugin", EGG_PLUGIN_SYMBOL)};
    }
    const auto& descriptor = library->get<const egg_plugin_descriptor>(EGG_PLUGIN_SYMBOL);
    const std::string reason = check_descriptor(&descriptor, file);
    return {reason.empty() ? &descriptor : nullptr, reason};
  } catch (const std::exception& e) {
    if (is_foreign(canonical)) return {nullptr, "is built for another processor; rebuild it for this machine"};
    return {nullptr,
            fmt::format("cannot be loaded ({}); rebuild it for this machine with every library that it needs{}",
                        printed(load_failure(e.what(), canonical)), other_cure())};
  }
}

}  // namespace eggroll
