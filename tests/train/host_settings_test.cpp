// The list of the host's own settings: no key of configs/config.yaml is missing, and what a run's hash leaves out.
#include "config/host_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/yaml.h"
#include "system/files.h"
#include "train/identity.h"

namespace eggroll {
namespace {

void add_leaves(const std::string& path, const ConfigNode& node, std::vector<std::string>& keys) {
  if (node.kind() != ConfigNode::Kind::kMap) return keys.push_back(path);
  for (const auto& [key, value] : node.map()) add_leaves(path.empty() ? key : path + "." + key, value, keys);
}

TEST(HostSettings, EveryKeyOfTheConfigurationFileIsListed) {
  std::vector<std::string> keys;
  add_leaves("", parse_yaml(read_file(EGGROLL_SOURCE_DIR "/configs/config.yaml"), "config.yaml"), keys);
  ASSERT_GT(keys.size(), 20u);
  for (const std::string& key : keys) {
    if (key.starts_with("defaults")) continue;
    EXPECT_NE(find_host_setting(key), nullptr)
        << key << " is not in core/config/host_settings.cpp; say there whether a run's hash has it";
  }
}

TEST(HostSettings, SectionsOutsideTheHashHaveNoKeyInIt) {
  for (const HostSetting& setting : host_settings()) {
    const std::string section(setting.key.substr(0, setting.key.find('.')));
    if (std::find(kOutsideHash.begin(), kOutsideHash.end(), section) == kOutsideHash.end()) continue;
    EXPECT_EQ(setting.in_hash, InHash::kNo) << setting.key;
  }
}

TEST(HostSettings, AKeyIsListedOnceAndItsAbsentValueIsKnown) {
  for (const HostSetting& setting : host_settings()) {
    EXPECT_EQ(std::ranges::count(host_settings(), setting.key, &HostSetting::key), 1) << setting.key;
    EXPECT_TRUE(setting.in_hash != InHash::kUnlessAbsent || !setting.absent.empty()) << setting.key;
  }
}

TEST(HostSettings, LimitsAreSaidAndCompared) {
  const HostSetting& rank = *find_host_setting("noise.rank");
  EXPECT_EQ(limits_text(rank), "1 to 64");
  EXPECT_FALSE(leaves_others(rank, 1.0, true));
  EXPECT_TRUE(leaves_others(rank, 1.0, false));
  EXPECT_FALSE(leaves_others(rank, 64.0, false));
  EXPECT_EQ(limits_text(*find_host_setting("train.steps")), "at least 1");
  const HostSetting& average = *find_host_setting("optimizer.average");
  EXPECT_EQ(limits_text(average), "0.5 to 0.99999");
  EXPECT_FALSE(leaves_others(average, 0.99999, false));
  EXPECT_EQ(limits_text(*find_host_setting("votes.masked")), "");
}

}  // namespace
}  // namespace eggroll
