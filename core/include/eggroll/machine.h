// The operating system's facts about this machine: its processor and its memory.
#ifndef EGGROLL_MACHINE_H
#define EGGROLL_MACHINE_H

#include <unistd.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace eggroll {

// All values of a key in the text of /proc/cpuinfo, in order: one for each processor that has it.
inline std::vector<std::string> cpuinfo_values(std::string_view text, std::string_view key) {
  std::vector<std::string> values;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, line.substr(0, colon).find_last_not_of(" \t") + 1);
    if (name == key) values.emplace_back(colon + 2 <= line.size() ? line.substr(colon + 2) : "");
  }
  return values;
}

// The processor's name, on x86 or Arm; "unknown" where the text does not say.
inline std::string cpu_model(std::string_view cpuinfo) {
  for (const std::string& model : cpuinfo_values(cpuinfo, "model name")) {
    if (!model.empty()) return model;
  }
  // On Arm the kernel gives numbers, on x86 it gives a name.
  const std::vector<std::string> implementers = cpuinfo_values(cpuinfo, "CPU implementer");
  const std::vector<std::string> parts = cpuinfo_values(cpuinfo, "CPU part");
  if (implementers.empty() || parts.empty()) return "unknown";
  return "implementer " + implementers.back() + " part " + parts.back();
}

#if defined(__APPLE__)

// Whether macOS reports this about the machine, as "hw.optional.arm.FEAT_DotProd".
inline bool machine_has(const std::string& what) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(what.c_str(), &value, &size, nullptr, 0) == 0 && value != 0;
}

// The name of this machine's processor.
inline std::string cpu_model() {
  char name[256] = "";
  size_t size = sizeof(name) - 1;
  return sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0 ? name : "unknown";
}

#else

// The name of this machine's processor.
inline std::string cpu_model() {
  std::ostringstream text;
  text << std::ifstream("/proc/cpuinfo").rdbuf();
  return cpu_model(text.str());
}

#endif

// The memory of the machine in bytes, used or free.
inline uint64_t machine_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace eggroll

#endif
