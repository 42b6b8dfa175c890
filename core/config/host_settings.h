// The host's own settings, each stated once: the numbers that readers accept, the value of an absent key, and whether a
// run's hash has the key. For groups whose options have code of their own (datasets, plugins) the list has only what
// the host itself reads, and what a run's hash leaves out.
#ifndef EGGROLL_CONFIG_HOST_SETTINGS_H
#define EGGROLL_CONFIG_HOST_SETTINGS_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "eggroll/settings.h"

namespace eggroll {

// A key that comes later changes the hash of every run, unless it is kUnlessAbsent or kNo.
enum class InHash {
  kYes,
  kUnlessAbsent,  // the hash leaves the key out while it has the value that stands for its absence
  kByContent,     // the hash leaves the key out and has a hash of what it names
  kNo,
};

struct WholeLimits {
  int64_t least;
  int64_t most;
};
struct RealLimits {
  double least;
  double most;
};

struct HostSetting {
  std::string_view key;  // its path: "train.steps"
  InHash in_hash;
  std::variant<std::monostate, WholeLimits, RealLimits> limits = {};  // nothing if it is no number
  std::string_view absent = "";  // JSON that stands for a key that is not there; "": the key must be there
};

// Top-level keys that cannot change weights or figures: what computes, when it is saved, where results go, where
// plugins are looked for, how often the monitor looks, what may stop the run, which can go on from there, who shares it
// and who launches it.
extern const std::vector<std::string> kOutsideHash;

// Keys of the section `eval` that the hash leaves out too: the hook reads what was measured and changes nothing.
extern const std::vector<std::string> kHookKeys;

// Keys of a dataset that name files: those that a run reads, and the same with the test split, which no run reads.
extern const std::vector<std::string> kRunFiles;
extern const std::vector<std::string> kDataFiles;

std::span<const HostSetting> host_settings();
// nullptr if there is no such key.
const HostSetting* find_host_setting(std::string_view key);
// Whether a run's hash has nothing of the key, because its section is in kOutsideHash or because it, or a key above it,
// is kNo.
bool is_outside_hash(std::string_view key);
// "1 to 4096", "at least 1"; "" where it is no number.
std::string limits_text(const HostSetting& setting);
// Whether a smaller, or a larger, number than this one is within the limits.
bool leaves_others(const HostSetting& setting, double value, bool smaller);

// Reads a section's numbers within their limits. Reading a key that is not in the list is a programming error.
class HostSection {
 public:
  // section: its name, such as "train".
  HostSection(Settings& settings, std::string section) : settings_(settings), section_(std::move(section)) {}

  template <class T>
  T whole(const std::string& key) const {
    return static_cast<T>(whole_of(key));
  }
  double real(const std::string& key) const;
  // Nothing if the key is null, or if it is absent and null is its default.
  template <class T>
  std::optional<T> whole_or_none(const std::string& key) const {
    return is_none(key) ? std::nullopt : std::optional(whole<T>(key));
  }
  std::optional<double> real_or_none(const std::string& key) const;
  bool is_none(const std::string& key) const;

 private:
  const HostSetting& known(const std::string& key) const;
  int64_t whole_of(const std::string& key) const;

  Settings& settings_;
  std::string section_;
};

}  // namespace eggroll

#endif
