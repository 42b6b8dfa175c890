#include "plugin/plugin_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
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

class Functions {
 public:
  template <class Function>
  Functions& require(const char* name, Function* function) {
    if (function == nullptr) missing_.push_back(name);
    return *this;
  }
  const std::vector<const char*>& missing() const { return missing_; }

 private:
  std::vector<const char*> missing_;
};

void require_all(Functions& functions, const egg_model_interface& table) {
  functions.require("program", table.program);
}

void require_all(Functions& functions, const egg_optimizer_interface& table) {
  functions.require("rule", table.rule).require("scalars", table.scalars);
}

void require_all(Functions& functions, const egg_backend_interface& table) {
  functions.require("supports_op", table.supports_op)
      .require("supports_rule_op", table.supports_rule_op)
      .require("supports_site", table.supports_site)
      .require("session_plan", table.session_plan)
      .require("session_open", table.session_open)
      .require("session_close", table.session_close)
      .require("set_weights", table.set_weights)
      .require("get_weights", table.get_weights)
      .require("set_slot", table.set_slot)
      .require("get_slot", table.get_slot)
      .require("set_states", table.set_states)
      .require("get_states", table.get_states)
      .require("evaluate", table.evaluate)
      .require("update", table.update)
      .require("infer", table.infer)
      .require("get_site_part", table.get_site_part)
      .require("add_site_part", table.add_site_part);
}

void require_all(Functions& functions, const egg_processes_interface& table) {
  functions.require("join", table.join)
      .require("gather_begin", table.gather_begin)
      .require("gather_end", table.gather_end)
      .require("collect", table.collect)
      .require("broadcast", table.broadcast)
      .require("leave", table.leave)
      .require("abort", table.abort);
}

template <class Table>
std::string check_functions(const egg_plugin_descriptor& d, const PluginFile& file) {
  Functions functions;
  functions.require("probe", d.probe).require("open", d.open).require("close", d.close);
  functions.require("interface_table", d.interface_table);
  if (d.interface_table != nullptr) {
    uint32_t size = 0;
    std::memcpy(&size, d.interface_table, sizeof(size));
    if (size != sizeof(Table)) {
      return fmt::format("{} has an interface table of {} bytes, but that of ABI {} has {}; {}", file.who(), size,
                         file.abi, sizeof(Table), kRebuild);
    }
    require_all(functions, *static_cast<const Table*>(d.interface_table));
  }
  if (functions.missing().empty()) return {};
  return fmt::format("{} lacks parts that a plugin must have: {}; fix the plugin", file.who(),
                     fmt::join(functions.missing(), ", "));
}

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
  switch (kind) {
    case EGG_KIND_BACKEND:
      return "backend";
    case EGG_KIND_MODEL:
      return "model";
    case EGG_KIND_OPTIMIZER:
      return "optimizer";
    case EGG_KIND_PROCESSES:
      return "processes";
  }
  return "";
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
  if (!reason.empty()) return reason;
  switch (*file.kind) {
    case EGG_KIND_BACKEND:
      reason = check_functions<egg_backend_interface>(descriptor, file);
      break;
    case EGG_KIND_MODEL:
      reason = check_functions<egg_model_interface>(descriptor, file);
      break;
    case EGG_KIND_OPTIMIZER:
      reason = check_functions<egg_optimizer_interface>(descriptor, file);
      break;
    case EGG_KIND_PROCESSES:
      reason = check_functions<egg_processes_interface>(descriptor, file);
      break;
  }
  return reason;
}

}  // namespace eggroll
