// Every row of the overrides' table.
#include "config/override_table.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <map>
#include <set>

#include "config/config_folder.h"

namespace eggroll::test {
namespace {

class OverrideTableTest : public ConfigFolderTest {
 protected:
  std::string outcome(const OverrideRow& row) const {
    const std::string prefix = "command line '" + row.overrides.back() + "': ";
    std::string text;
    std::string refused = shortened(config_error_of([&] {
      if (row.outcome == Outcome::kTree || row.outcome == Outcome::kRefused) {
        text = difference(composed(), composed(row.overrides));
      } else {
        for (const auto& run : expand_sweeps(search_, row.overrides)) {
          text += (text.empty() ? "" : "; ") + fmt::format("{}", fmt::join(run, " "));
        }
      }
    }));
    const bool expects_refusal = row.outcome == Outcome::kRefused || row.outcome == Outcome::kRunsRefused;
    EXPECT_EQ(!refused.empty(), expects_refusal) << refused << text;
    if (refused.empty()) return text;
    return refused.starts_with(prefix) ? refused.substr(prefix.size()) : "elsewhere: " + refused;
  }

 private:
  using Leaves = std::vector<std::pair<std::string, std::string>>;  // paths and values

  static void flatten(const ConfigNode& node, const std::string& path, Leaves& leaves) {
    if (node.kind() != ConfigNode::Kind::kMap || node.map().empty()) {
      leaves.emplace_back(path, to_line(node));
      return;
    }
    for (const auto& [key, value] : node.map()) flatten(value, join_path(path, key), leaves);
  }

  static std::string difference(const ConfigNode& before, const ConfigNode& after) {
    Leaves old_leaves;
    Leaves new_leaves;
    flatten(before, "", old_leaves);
    flatten(after, "", new_leaves);
    const std::map<std::string, std::string> was(old_leaves.begin(), old_leaves.end());
    const std::map<std::string, std::string> is(new_leaves.begin(), new_leaves.end());
    std::vector<std::string> lines;
    for (const auto& [path, value] : new_leaves) {
      const auto old = was.find(path);
      if (old == was.end() || old->second != value) lines.push_back(path + ": " + value);
    }
    for (const auto& [path, value] : old_leaves) {
      if (!is.contains(path)) lines.push_back("~" + path);
    }
    return fmt::format("{}", fmt::join(lines, "; "));
  }
};

TEST_F(OverrideTableTest, HasManyRowsAndNoneTwice) {
  EXPECT_GE(override_table().size(), 150U);
  std::set<std::pair<std::vector<std::string>, bool>> seen;
  for (const OverrideRow& row : override_table()) {
    const bool is_multirun = row.outcome == Outcome::kRuns || row.outcome == Outcome::kRunsRefused;
    EXPECT_TRUE(seen.insert({row.overrides, is_multirun}).second) << row.overrides.back();
  }
}

TEST_F(OverrideTableTest, EveryRowEndsAsItSays) {
  ASSERT_EQ(::unsetenv("EGGROLL_TEST_NONE"), 0);
  for (const OverrideRow& row : override_table()) {
    EXPECT_EQ(outcome(row), row.expected) << fmt::format("{}", fmt::join(row.overrides, " "));
  }
}

}  // namespace
}  // namespace eggroll::test
