// Experiments of a test's own over the repository's configurations, and sweeps in a folder beside them.
#ifndef EGGROLL_TESTS_EXPERIMENT_OWN_FOLDER_H
#define EGGROLL_TESTS_EXPERIMENT_OWN_FOLDER_H

#include <gmock/gmock.h>

#include "config/compose.h"
#include "record/scratch.h"
#include "support/words.h"

namespace eggroll::test {

class OwnFolderTest : public ScratchTest {
 protected:
  OwnFolderTest() { std::filesystem::create_directories(folder_ / "configs"); }

  void write_experiment(const std::string& name, const std::string& text) const {
    scratch_.put("experiments/" + name + ".yaml", text);
  }
  std::vector<std::string> overrides(const std::string& experiment, const std::vector<std::string>& more = {}) const {
    return joined({"experiment=" + experiment, "results.sweeps=" + (folder_ / "sweeps").string()}, more);
  }

  const ConfigSearch search_{{folder_ / "configs", EGGROLL_SOURCE_DIR "/configs"}};
};

}  // namespace eggroll::test

#endif
