#include "config/host_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "config/tree.h"

namespace eggroll {

const std::vector<std::string> kOutsideHash = {"backend", "checkpoint", "results",   "plugins",
                                               "monitor", "stop",       "processes", "launcher"};
const std::vector<std::string> kRunFiles = {"path", "valid_path", "vocabulary"};
const std::vector<std::string> kDataFiles = {"path", "valid_path", "vocabulary", "test_path"};

namespace {

constexpr int64_t kWhole = std::numeric_limits<int64_t>::max() / 2;  // sums of two stay whole numbers
constexpr int64_t kInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt64 = std::numeric_limits<int64_t>::max();

constexpr WholeLimits from(int64_t least, int64_t most = kWhole) { return {least, most}; }
constexpr RealLimits between(double least, double most) { return {least, most}; }

constexpr HostSetting kSettings[] = {
    {"name", InHash::kYes},
    {"seed", InHash::kYes, from(0, kInt64)},

    {"init.from",
     InHash::kByContent},  // the hash has sha256, what the checkpoint holds; without init.from nothing of init
    {"init.run", InHash::kByContent},
    {"init.continue", InHash::kYes},
    {"init.states", InHash::kYes},
    {"init.evaluations", InHash::kYes},
    {"init.sha256", InHash::kYes},
    {"init.step", InHash::kYes, from(0, kInt32)},

    {"train.steps", InHash::kYes, from(1, kInt32)},
    {"train.population", InHash::kYes, from(2, 1 << 24)},
    {"train.members_per_stream", InHash::kYes, from(2, 1 << 24)},
    {"train.tokens", InHash::kYes, from(1, 1 << 20)},
    {"votes.masked", InHash::kYes},
    {"perturb.groups", InHash::kYes},

    {"noise.rank", InHash::kYes, from(1, 64)},
    {"noise.sigma_shift", InHash::kYes, from(0, 12)},
    {"noise.sigma_vector_shift", InHash::kYes, from(0, 12)},
    {"noise.table_log2", InHash::kYes, from(12, 30)},
    {"fitness.alpha", InHash::kYes, between(0.001, 127.0)},
    {"fitness.clip", InHash::kYes, between(0.1, 100.0)},
    {"optimizer.average", InHash::kYes, between(0.5, 0.99999)},
    {"dataset.take", InHash::kUnlessAbsent, {}, "null"},
    {"dataset.test_path", InHash::kNo},

    {"eval.every", InHash::kYes, from(1)},
    {"eval.tokens", InHash::kYes, from(2)},
    {"eval.streams", InHash::kYes, from(1, 1 << 20)},
    {"eval.warmup", InHash::kUnlessAbsent, from(0, 1 << 20), "0"},
    {"eval.hook", InHash::kNo},
    {"eval.hook_sample", InHash::kNo},
    {"eval.hook_seconds", InHash::kNo, between(1e-3, 1e6)},
    {"eval.hook_sample.tokens", InHash::kNo, from(0, 1 << 20)},
    {"eval.hook_sample.temperature", InHash::kNo, between(0.0, 1e3)},
    {"eval.hook_sample.seed", InHash::kNo, from(0, kInt64)},

    {"checkpoint.every", InHash::kNo, from(1)},
    {"checkpoint.keep", InHash::kNo, from(1, 1000000)},
    {"checkpoint.best", InHash::kNo, {}, "null"},
    {"monitor.every", InHash::kNo, from(0)},
    {"stop.seconds", InHash::kNo, between(1e-3, 1e9)},
    {"stop.steps", InHash::kNo, from(1), "null"},
    {"stop.tokens", InHash::kNo, from(1)},
    {"stop.bits", InHash::kNo, between(0.0, 1e3)},
    {"stop.patience", InHash::kNo, from(1)},
    {"processes.name", InHash::kNo},
    {"processes.update", InHash::kNo},
    {"processes.checksum_every", InHash::kNo, from(1)},
    {"backend.threads", InHash::kNo, from(0, 4096)},
    {"plugins.path", InHash::kNo},
    {"results.dir", InHash::kNo},
    {"results.sweeps", InHash::kNo},
};

std::vector<std::string> hook_keys() {
  std::vector<std::string> keys;
  for (const HostSetting& setting : kSettings) {
    const std::string_view key = setting.key.substr(setting.key.find('.') + 1);
    if (setting.key.starts_with("eval.hook") && key.find('.') == std::string_view::npos) keys.emplace_back(key);
  }
  return keys;
}

}  // namespace

const std::vector<std::string> kHookKeys = hook_keys();

std::span<const HostSetting> host_settings() { return kSettings; }

const HostSetting* find_host_setting(std::string_view key) {
  const auto* const found = std::ranges::find(kSettings, key, &HostSetting::key);
  return found == std::end(kSettings) ? nullptr : found;
}

bool is_outside_hash(std::string_view key) {
  return std::ranges::any_of(kOutsideHash, [&](const std::string& section) { return is_within(key, section); }) ||
         std::ranges::any_of(kSettings, [&](const HostSetting& setting) {
           return setting.in_hash == InHash::kNo && is_within(key, setting.key);
         });
}

std::string limits_text(const HostSetting& setting) {
  if (const auto* whole = std::get_if<WholeLimits>(&setting.limits)) {
    return whole->most >= kInt32 ? fmt::format("at least {}", whole->least)
                                 : fmt::format("{} to {}", whole->least, whole->most);
  }
  const auto* real = std::get_if<RealLimits>(&setting.limits);
  return real == nullptr ? "" : fmt::format("{} to {}", real->least, real->most);
}

bool leaves_others(const HostSetting& setting, double value, bool smaller) {
  if (const auto* whole = std::get_if<WholeLimits>(&setting.limits)) {
    return smaller ? value > static_cast<double>(whole->least) : value < static_cast<double>(whole->most);
  }
  const auto* real = std::get_if<RealLimits>(&setting.limits);
  return real == nullptr || (smaller ? value > real->least : value < real->most);
}

const HostSetting& HostSection::known(const std::string& key) const {
  const HostSetting* setting = find_host_setting(section_.empty() ? key : section_ + "." + key);
  if (setting == nullptr) throw std::logic_error(key + " is read and is not in core/config/host_settings.cpp");
  return *setting;
}

int64_t HostSection::whole_of(const std::string& key) const {
  const HostSetting& setting = known(key);
  if (!setting.absent.empty() && !settings_.has(key)) return std::stoll(std::string(setting.absent));
  const auto& limits = std::get<WholeLimits>(setting.limits);
  return settings_.integer(key, limits.least, limits.most);
}

double HostSection::real(const std::string& key) const {
  const auto& limits = std::get<RealLimits>(known(key).limits);
  return settings_.real(key, limits.least, limits.most);
}

std::optional<double> HostSection::real_or_none(const std::string& key) const {
  return is_none(key) ? std::nullopt : std::optional(real(key));
}

bool HostSection::is_none(const std::string& key) const {
  return (known(key).absent == "null" && !settings_.has(key)) || settings_.is_null(key);
}

}  // namespace eggroll
