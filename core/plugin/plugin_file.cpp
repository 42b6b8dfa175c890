#include "plugin/plugin_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "plugin/watchdog.h"

namespace eggroll {
namespace {

constexpr const char* kRebuild = "rebuild the plugin against this version";

// The part of a descriptor that never moves.
struct Head {
  uint32_t magic;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t struct_size;
};

std::string check_head(const void* symbol, PluginFile& file) {
  Head head;
  std::memcpy(&head, symbol, sizeof(head));
  if (head.magic != EGG_MAGIC) {
    return fmt::format("its {} is no plugin descriptor (it begins with {:#010x}, expected {:#010x}); {}",
                       EGG_PLUGIN_SYMBOL, head.magic, EGG_MAGIC, "build it with eggroll_add_plugin");
  }
  file.abi = fmt::format("{}.{}", head.abi_major, head.abi_minor);
  static_assert(EGG_ABI_MAJOR == 0, "from 1.0 on an older minor is accepted");
  if (head.abi_major != EGG_ABI_MAJOR || head.abi_minor != EGG_ABI_MINOR) {
    return fmt::format("built for plugin ABI {}, this host accepts {}.{}; {}", file.abi, EGG_ABI_MAJOR, EGG_ABI_MINOR,
                       kRebuild);
  }
  if (head.struct_size != sizeof(egg_plugin_descriptor)) {
    return fmt::format("its descriptor has {} bytes, but that of ABI {} has {}; {}", head.struct_size, file.abi,
                       sizeof(egg_plugin_descriptor), kRebuild);
  }
  return {};
}

std::string check_identity(const egg_plugin_descriptor& d, PluginFile& file) {
  if (d.kind < EGG_KIND_BACKEND || d.kind > EGG_KIND_PROCESSES) {
    return fmt::format(
        "its kind is {}, expected 0 (backend), 1 (model), 2 (optimizer) or 3 (processes); fix the plugin", d.kind);
  }
  file.kind = static_cast<egg_kind>(d.kind);
  if (d.name == nullptr || d.version == nullptr || d.build == nullptr) {
    return "its name, version or build is missing; fix the plugin";
  }
  file.name = printed(d.name);
  file.version = printed(d.version);
  file.build = printed(d.build);
  if (!is_plugin_name(file.name)) {
    return fmt::format("its name is '{}', expected lower_snake other than auto; fix the plugin", file.name);
  }
  file.spec_hash = d.spec_hash;
  if (d.spec_hash != EGG_SPEC_HASH) {
    return fmt::format("{} follows the op set and noise of specification {:016x}, expected this host's, {:016x}; {}",
                       file.who(), d.spec_hash, EGG_SPEC_HASH, kRebuild);
  }
  return {};
}

// A part that a plugin must have: its name, and where the pointer to it lies in the descriptor or the interface table.
struct Part {
  const char* name;
  size_t place;
};

struct Kind {
  const char* name;
  size_t table_size;
  std::vector<Part> functions;  // of the interface table
};

// By egg_kind.
const std::array<Kind, 4>& kinds() {
#define EGG_PART(table, part) \
  Part { #part, offsetof(table, part) }
#define EGG_BACKEND(part) EGG_PART(egg_backend_interface, part)
#define EGG_PROCESSES(part) EGG_PART(egg_processes_interface, part)
  static const std::array<Kind, 4> kinds{{
      {"backend",
       sizeof(egg_backend_interface),
       {EGG_BACKEND(supports_op), EGG_BACKEND(supports_rule_op), EGG_BACKEND(supports_site), EGG_BACKEND(session_plan),
        EGG_BACKEND(session_open), EGG_BACKEND(session_close), EGG_BACKEND(set_weights), EGG_BACKEND(get_weights),
        EGG_BACKEND(set_slot), EGG_BACKEND(get_slot), EGG_BACKEND(set_states), EGG_BACKEND(get_states),
        EGG_BACKEND(evaluate), EGG_BACKEND(update), EGG_BACKEND(infer), EGG_BACKEND(get_site_part),
        EGG_BACKEND(add_site_part)}},
      {"model", sizeof(egg_model_interface), {EGG_PART(egg_model_interface, program)}},
      {"optimizer",
       sizeof(egg_optimizer_interface),
       {EGG_PART(egg_optimizer_interface, rule), EGG_PART(egg_optimizer_interface, scalars)}},
      {"processes",
       sizeof(egg_processes_interface),
       {EGG_PROCESSES(join), EGG_PROCESSES(gather_begin), EGG_PROCESSES(gather_end), EGG_PROCESSES(collect),
        EGG_PROCESSES(broadcast), EGG_PROCESSES(leave), EGG_PROCESSES(abort)}},
  }};
  return kinds;
}

// Appends the parts that are null.
void find_missing(const void* memory, std::span<const Part> parts, std::vector<const char*>& missing) {
  for (const Part& part : parts) {
    const void* pointer = nullptr;
    std::memcpy(&pointer, static_cast<const char*>(memory) + part.place, sizeof(pointer));
    if (pointer == nullptr) missing.push_back(part.name);
  }
}

std::string check_functions(const egg_plugin_descriptor& d, const PluginFile& file) {
  static const std::array<Part, 4> own{{EGG_PART(egg_plugin_descriptor, probe), EGG_PART(egg_plugin_descriptor, open),
                                        EGG_PART(egg_plugin_descriptor, close),
                                        EGG_PART(egg_plugin_descriptor, interface_table)}};
  const Kind& kind = kinds()[static_cast<size_t>(*file.kind)];
  std::vector<const char*> missing;
  find_missing(&d, own, missing);
  if (d.interface_table != nullptr) {
    uint32_t size = 0;
    std::memcpy(&size, d.interface_table, sizeof(size));
    if (size != kind.table_size) {
      return fmt::format("{} has an interface table of {} bytes, but that of ABI {} has {}; {}", file.who(), size,
                         file.abi, kind.table_size, kRebuild);
    }
    find_missing(d.interface_table, kind.functions, missing);
  }
  if (missing.empty()) return {};
  return fmt::format("{} lacks parts that a plugin must have: {}; fix the plugin", file.who(),
                     fmt::join(missing, ", "));
}
#undef EGG_PROCESSES
#undef EGG_BACKEND
#undef EGG_PART

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAccepted:
      return "accepted";
    case Verdict::kRejected:
      return "rejected";
    case Verdict::kCannotRun:
      return "cannot run";
  }
  return "";
}

const char* kind_name(egg_kind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kinds().size() ? kinds()[index].name : "";
}

bool is_plugin_name(const std::string& name) {
  if (name.empty() || name.size() > 64 || name == "auto" || name.find("__") != std::string::npos) return false;
  return name.front() >= 'a' && name.front() <= 'z' && name.back() != '_' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

std::string PluginFile::who() const {
  return fmt::format("{} '{}'", kind ? kind_name(*kind) : "plugin", kind ? name : path.stem().string());
}

std::string check_descriptor(const void* symbol, PluginFile& file) {
  std::string reason = check_head(symbol, file);
  if (!reason.empty()) return reason;
  const auto& descriptor = *static_cast<const egg_plugin_descriptor*>(symbol);
  reason = check_identity(descriptor, file);
  return reason.empty() ? check_functions(descriptor, file) : reason;
}

}  // namespace eggroll
