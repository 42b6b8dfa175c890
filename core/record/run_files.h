// A run's folder: the names of its files, and the test that tells it from other folders.
#ifndef EGGROLL_RECORD_RUN_FILES_H
#define EGGROLL_RECORD_RUN_FILES_H

#include <filesystem>
#include <optional>
#include <string_view>

namespace eggroll {

struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.yaml"; }
  std::filesystem::path record() const { return path / "record.json"; }
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path journal() const { return path / "journal.bin"; }
  std::filesystem::path curve() const { return path / "curve.png"; }
  std::filesystem::path point() const { return path / "point.json"; }  // of a sweep's point
  std::filesystem::path log() const { return path / "log.txt"; }       // likewise
  std::filesystem::path samples() const { return path / "samples.txt"; }
};

// eggroll rm renames a run's folder to this prefix and its name while it removes what is in it.
inline constexpr std::string_view kRemovedPrefix = ".tmp-rm-";

// Whether the folder is a run's. It has a config.yaml, as many other folders have, and beside it a lock that a run has
// held, or the record of a run. Links do not count. A folder that cannot be read counts as a run's: reading it gives
// the error.
bool is_run(const RunFolder& folder);

// Whether metrics.jsonl has a whole line. Before the first one nothing is known of a run but its configuration.
bool has_metrics(const RunFolder& folder);

// The first entry of the folder, or of a folder in it, that neither a run nor a command on a run writes there; a link
// is always one. Throws Error if a folder cannot be read.
std::optional<std::filesystem::path> foreign_entry(const RunFolder& folder);

}  // namespace eggroll

#endif
