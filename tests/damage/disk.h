// A folder on a disk that may lose power: synced data stay, and any part of the other data may be there.
#ifndef EGGROLL_TESTS_DAMAGE_DISK_H
#define EGGROLL_TESTS_DAMAGE_DISK_H

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "damage/campaign.h"
#include "damage/recording.h"

namespace eggroll::test {

struct RecordedCall {
  CallHead head;
  std::string first;
  std::string second;
  std::string data;
};

std::vector<RecordedCall> read_recording(const std::filesystem::path& file);

class Disk {
 public:
  // All data that are in the folder now count as synced.
  explicit Disk(const std::filesystem::path& folder);

  // Calls come in the order in which they were made.
  void apply(const RecordedCall& call);

  // Writes a state that a cut at this moment may leave into a new folder; returns the choices it made.
  std::string cut(TrialDraws& draws, const std::filesystem::path& into) const;

  // Sentences on what the folder lacks of what was saved by now: a file that a rename put in its place, alone or with
  // its folder, counts as saved from the moment when the folder around it was synced.
  std::vector<std::string> losses(const std::filesystem::path& folder) const;

  // Sentences on how the folder differs from the result of all calls so far, if nothing is lost. Only a gap in the
  // recording makes a difference.
  std::vector<std::string> differences(const std::filesystem::path& folder) const;

  const std::string& said() const { return said_; }  // to standard output

 private:
  using Entries = std::map<std::string, size_t>;  // names in a folder, to nodes
  struct Change {
    uint64_t at;
    std::string data;
    bool truncates;  // to `at` bytes
  };
  struct Node {
    bool is_folder = false;
    Entries entries;  // as processes see it
    Entries synced_entries;
    std::string bytes;
    std::string synced_bytes;
    std::vector<Change> changes;  // since the last sync
  };
  struct Entry {
    size_t folder;
    std::string name;
    std::optional<size_t> node;  // none: the name is removed
  };
  // The changes of names that one call makes; they happen together.
  struct Renaming {
    std::vector<Entry> entries;
    bool puts_in_place = false;  // a rename; the last entry is the new name
  };

  size_t scan(const std::filesystem::path& folder);
  std::pair<size_t, std::string> place_of(const std::string& path) const;
  std::optional<size_t> at(const std::string& path) const;
  size_t of_inode(uint64_t inode) const;
  void change(Node& node, Change change) const;
  static void apply(std::string& bytes, const Change& change);
  void rename(Renaming renaming);
  void create(const RecordedCall& call, bool is_folder);
  void sync(size_t node);
  void note_saved(const Entry& entry);
  void note_gone(const std::string& path);
  std::string path_to(size_t node) const;
  void note_files(const std::string& path, size_t node, std::map<std::string, std::string>& files) const;
  static std::string after_cut(const Node& node, TrialDraws& draws, bool keeps_nothing);
  void write_out(const std::vector<Entries>& entries, size_t node, const std::filesystem::path& into, TrialDraws& draws,
                 bool keeps_nothing) const;

  std::string folder_;
  std::vector<Node> nodes_;  // the first is the folder itself
  std::map<uint64_t, size_t> inodes_;
  std::vector<Renaming> unsynced_;
  // The path below the folder, to the contents that may be there: the newest saved, and what was renamed there since.
  std::map<std::string, std::vector<std::string>> saved_;
  std::string said_;
};

}  // namespace eggroll::test

#endif
