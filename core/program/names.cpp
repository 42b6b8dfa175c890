#include "program/names.h"

#include <fmt/format.h>

#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kLongest = 200;
constexpr size_t kLongestShown = 1000;

}  // namespace

std::string fault_of_name(const std::string& name) {
  const auto shown = [&] { return one_line(name, kLongestShown); };
  if (name.empty()) return "a name is empty";
  if (name.size() > kLongest) return fmt::format("the name '{}' is longer than {} characters", shown(), kLongest);
  if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) {
    return fmt::format("the name '{}' has characters other than a-z, 0-9, underscores and dots", shown());
  }
  if (name == "__metadata__") return "the name '__metadata__' belongs to a part of every safetensors file";
  return "";
}

}  // namespace eggroll
