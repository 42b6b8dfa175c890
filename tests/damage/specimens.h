// Runs and sweeps, finished or not, whose files the tests damage.
#ifndef EGGROLL_TESTS_DAMAGE_SPECIMENS_H
#define EGGROLL_TESTS_DAMAGE_SPECIMENS_H

#include <string>
#include <vector>

#include "cli/eggroll_command.h"

namespace eggroll::test {

struct Specimen {
  std::string name;
  fs::path folder;  // the folder that the command ran in; it holds results/
  fs::path target;  // the run or the sweep, relative to `folder`
  Arguments again;  // continues it, or says that it is finished
  bool is_sweep = false;
  bool is_finished = false;
  std::vector<fs::path> files;  // relative to `folder`, sorted
};

// Starts `eggroll` with experiments and data of its own.
class Damage : public CliTest {
 protected:
  Damage();

  Arguments gru() const;
  Arguments transformer() const;
  Arguments small_sweep() const;
  Arguments small_search() const;

  // Runs the command in work_/NAME and ends it half-way with this signal; 0: it runs to its end.
  Specimen make(const std::string& name, const Arguments& arguments, int signal) const;

  // What is left in the folder is what the undisturbed command left: files, weights, journals and metrics.
  static void expect_undisturbed(const Specimen& undisturbed, const fs::path& folder);
};

// The folders of runs below this one: those with a config.yaml, sorted.
std::vector<fs::path> runs_below(const fs::path& folder);

// Names of all regular files below the folder, sorted.
std::vector<fs::path> files_below(const fs::path& folder);

// "" if there is no such file.
std::string bytes_of(const fs::path& file);

// The text of record.json or metrics.jsonl without times, without values that depend on times, and without checksums.
std::string figures_of_record(const fs::path& run);
std::string figures_of_metrics(const fs::path& run);
void erase_times(nlohmann::ordered_json& json);

// "" if the text holds no words of another library or of a crash.
std::string foreign_words(const std::string& text);

// The bytes of the newest checkpoint's weights; "" if there is none.
std::string newest_weights(const fs::path& run);

}  // namespace eggroll::test

#endif
