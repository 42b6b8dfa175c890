// Watches the runs below a results folder and keeps their summaries up to date.
#ifndef EGGROLL_TOOLS_SERVE_WATCH_H
#define EGGROLL_TOOLS_SERVE_WATCH_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/collection.h"

namespace eggroll {

// A file's state when it was read; all zero for a missing file.
struct FileStamp {
  uint64_t size = 0;
  int64_t changed_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};

// A run as one look saw it; it never changes once it is published.
struct SeenRun {
  std::filesystem::path record_path;
  FileStamp record;
  FileStamp metrics_file;
  RunRecord says;           // the record, without its summary
  std::string unreadable;   // why it cannot be read; "": it can
  bool was_killed = false;  // the record says that the run is running, but no process runs it; see was_killed()
  RunMetrics metrics;
  KnownLines known;                                     // known from the record
  std::vector<std::string> problems;                    // in the metrics
  std::string half_line;                                // a problem only if no writer is at work; "": none
  std::chrono::steady_clock::time_point read_again_at;  // the metrics are not read before this
  uint64_t version = 0;                                 // the watch's version when this was published
  uint64_t curve_version = 0;                           // the watch's version when the metrics last changed

  // Whether the run has a folder of its own. A published record is one file among others.
  bool has_folder() const { return record_path.filename() == "record.json"; }
  std::filesystem::path file(const char* name) const { return record_path.parent_path() / name; }
};

class Watch {
 public:
  // Throws Error if `results` is no folder.
  explicit Watch(const std::filesystem::path& results);

  // Reads what has changed since the last look. Only one thread may look; the others may ask meanwhile, and see each
  // run as soon as it is read.
  void look();
  // Soon ends a look that is under way, and all later ones.
  void stop() { stopped_ = true; }

  // All runs, or the changes since the reply with this `version` (the README beside this file describes the reply).
  nlohmann::ordered_json runs(const std::string& since) const;
  // The run in this folder, as `runs` names it; nothing if there is none.
  std::optional<nlohmann::ordered_json> run(const std::string& folder) const;
  std::optional<nlohmann::ordered_json> curves(const std::string& folder) const;
  // The path of a run, or of a folder with runs at any depth; nothing if there is no run.
  std::optional<std::filesystem::path> path_of(const std::string& folder) const;
  // The folder of a run by its record.
  std::string folder_of(const std::filesystem::path& record) const;
  // Until the first look has read all runs.
  bool is_first_look() const;
  // Changes with whatever a look sees.
  uint64_t version() const;

 private:
  struct Found;
  // A file *.json that is not named record.json and holds no record, or a damaged one.
  struct OtherFile {
    FileStamp stamp;
    std::optional<std::string> problem;
  };

  Found find();
  bool is_record(const std::filesystem::path& path, Found& found);
  void read_record_of(const std::string& folder, const std::filesystem::path& path);
  void read_metrics_of(const std::string& folder);
  void publish(const std::string& folder, SeenRun run);
  void forget_missing(const Found& found);
  bool has_unread_metrics(const std::string& folder) const;
  void read_all(const Found& found);
  std::shared_ptr<const SeenRun> seen(const std::string& folder) const;

  const std::filesystem::path results_;
  std::atomic<bool> stopped_ = false;
  const std::string started_;  // differs between processes, so that a client notices a new server
  std::map<std::filesystem::path, OtherFile> other_files_;  // used by the looking thread only

  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::shared_ptr<const SeenRun>> runs_;
  std::map<std::string, uint64_t> removed_;  // the version at which each folder was removed
  nlohmann::ordered_json around_;            // the parts of replies other than runs
  uint64_t version_ = 0;
  size_t unread_ = 0;  // runs whose metrics are still to be read
  // Until the first look has read all runs: how many it has read, and of how many, once that is known.
  struct FirstLook {
    size_t read = 0;
    std::optional<size_t> of;
  };
  std::optional<FirstLook> first_look_ = FirstLook();
};

}  // namespace eggroll

#endif
