#include "damage/disk.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "record/scratch.h"
#include "system/files.h"

namespace eggroll::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSector = 512;
constexpr size_t kPage = 4096;

uint64_t inode_of(const fs::path& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) throw Error("no inode of " + path.string());
  return facts.st_ino;
}

}  // namespace

std::vector<RecordedCall> read_recording(const fs::path& file) {
  const std::string bytes = read_file(file);
  std::vector<RecordedCall> calls;
  for (size_t next = 0; next < bytes.size();) {
    RecordedCall call;
    const auto take = [&](size_t size) {
      if (bytes.size() - next < size) throw Error("the recording " + file.string() + " is cut short");
      next += size;
      return bytes.substr(next - size, size);
    };
    std::memcpy(&call.head, take(sizeof(call.head)).data(), sizeof(call.head));
    call.first = take(call.head.first_size);
    call.second = take(call.head.second_size);
    call.data = take(call.head.data_size);
    calls.push_back(std::move(call));
  }
  return calls;
}

Disk::Disk(const fs::path& folder) : folder_(fs::canonical(folder).string()) { scan(folder_); }

size_t Disk::scan(const fs::path& folder) {
  const size_t number = nodes_.size();
  nodes_.emplace_back().is_folder = true;
  inodes_[inode_of(folder)] = number;
  for (const fs::path& path : paths_in(folder)) {
    size_t inner = nodes_.size();
    if (fs::is_directory(path)) {
      inner = scan(path);
    } else {
      nodes_.emplace_back();
      nodes_[inner].bytes = nodes_[inner].synced_bytes = read_file(path);
      inodes_[inode_of(path)] = inner;
    }
    nodes_[number].entries[path.filename()] = inner;
  }
  nodes_[number].synced_entries = nodes_[number].entries;
  return number;
}

std::optional<size_t> Disk::at(const std::string& path) const {
  if (!path.starts_with(folder_)) return std::nullopt;
  size_t node = 0;
  for (const fs::path& name : fs::path(path.substr(folder_.size())).relative_path()) {
    const auto found = nodes_[node].entries.find(name.string());
    if (found == nodes_[node].entries.end()) return std::nullopt;
    node = found->second;
  }
  return node;
}

// The folder and the name in it.
std::pair<size_t, std::string> Disk::place_of(const std::string& path) const {
  const std::optional<size_t> folder = at(fs::path(path).parent_path().string());
  if (!folder) throw Error("the recording lacks the folder of " + path);
  return {*folder, fs::path(path).filename().string()};
}

size_t Disk::of_inode(uint64_t inode) const {
  const auto found = inodes_.find(inode);
  if (found == inodes_.end()) throw Error("the recording lacks the file with the inode " + std::to_string(inode));
  return found->second;
}

void Disk::apply(std::string& bytes, const Change& change) {
  if (change.truncates) return bytes.resize(change.at, '\0');
  bytes.resize(std::max<size_t>(bytes.size(), change.at + change.data.size()), '\0');
  bytes.replace(change.at, change.data.size(), change.data);
}

void Disk::change(Node& node, Change change) const {
  apply(node.bytes, change);
  node.changes.push_back(std::move(change));
}

void Disk::rename(Renaming renaming) {
  for (const Entry& entry : renaming.entries) {
    Entries& entries = nodes_[entry.folder].entries;
    if (entry.node) {
      entries[entry.name] = *entry.node;
    } else {
      entries.erase(entry.name);
    }
  }
  unsynced_.push_back(std::move(renaming));
}

void Disk::create(const RecordedCall& call, bool is_folder) {
  const auto [folder, name] = place_of(call.first);
  const auto found = nodes_[folder].entries.find(name);
  if (found != nodes_[folder].entries.end()) {
    inodes_[call.head.inode] = found->second;
    return;
  }
  inodes_[call.head.inode] = nodes_.size();
  nodes_.emplace_back().is_folder = is_folder;
  rename({{{folder, name, nodes_.size() - 1}}});
}

void Disk::apply(const RecordedCall& call) {
  switch (call.head.call) {
    case Call::kCreate:
      return create(call, false);
    case Call::kFolder:
      return create(call, true);
    case Call::kLink: {
      const auto [folder, name] = place_of(call.second);
      const std::optional<size_t> node = at(call.first);
      if (!node) throw Error("the recording lacks " + call.first);
      return rename({{{folder, name, node}}});
    }
    case Call::kRename: {
      const auto [from, old_name] = place_of(call.first);
      const auto [to, new_name] = place_of(call.second);
      const size_t node = nodes_[from].entries.at(old_name);
      note_gone(call.first);
      const auto saved = saved_.find(call.second);
      if (saved != saved_.end()) saved->second.push_back(nodes_[node].bytes);
      return rename({{{from, old_name, std::nullopt}, {to, new_name, node}}, true});
    }
    case Call::kRemove: {
      const auto [folder, name] = place_of(call.first);
      note_gone(call.first);
      return rename({{{folder, name, std::nullopt}}});
    }
    case Call::kWrite:
      return change(nodes_[of_inode(call.head.inode)], {call.head.at, call.data, false});
    case Call::kTruncate:
      return change(nodes_[of_inode(call.head.inode)], {call.head.at, "", true});
    case Call::kSync:
      return sync(of_inode(call.head.inode));
    case Call::kSaid:
      said_ += call.data;
  }
}

void Disk::sync(size_t number) {
  Node& node = nodes_[number];
  if (!node.is_folder) {
    node.synced_bytes = node.bytes;
    node.changes.clear();
    return;
  }
  std::vector<Renaming> rest;
  for (Renaming& renaming : unsynced_) {
    const bool is_here = std::any_of(renaming.entries.begin(), renaming.entries.end(),
                                     [&](const Entry& entry) { return entry.folder == number; });
    if (!is_here) {
      rest.push_back(std::move(renaming));
      continue;
    }
    for (const Entry& entry : renaming.entries) {
      Entries& entries = nodes_[entry.folder].synced_entries;
      if (entry.node) {
        entries[entry.name] = *entry.node;
      } else {
        entries.erase(entry.name);
      }
    }
    if (renaming.puts_in_place) note_saved(renaming.entries.back());
  }
  unsynced_ = std::move(rest);
}

// Absolute; "" where the node has no name any more.
std::string Disk::path_to(size_t wanted) const {
  if (wanted == 0) return folder_;
  for (size_t folder = 0; folder < nodes_.size(); ++folder) {
    for (const auto& [name, node] : nodes_[folder].entries) {
      if (node != wanted) continue;
      const std::string above = path_to(folder);
      if (!above.empty()) return above + "/" + name;
    }
  }
  return "";
}

void Disk::note_files(const std::string& path, size_t node, std::map<std::string, std::string>& files) const {
  if (!nodes_[node].is_folder) files[path] = nodes_[node].bytes;
  for (const auto& [name, inner] : nodes_[node].entries) note_files(path + "/" + name, inner, files);
}

void Disk::note_saved(const Entry& entry) {
  const auto now = nodes_[entry.folder].entries.find(entry.name);
  if (now == nodes_[entry.folder].entries.end() || now->second != *entry.node) return;  // renamed again since
  const std::string above = path_to(entry.folder);
  // What has a temporary name, or lies in a folder that has one, is not said to be saved.
  if (above.empty() || (above + "/" + entry.name).find("/.") != std::string::npos) return;
  std::map<std::string, std::string> files;
  note_files(above + "/" + entry.name, *entry.node, files);
  for (auto& [path, bytes] : files) saved_[path] = {std::move(bytes)};
}

void Disk::note_gone(const std::string& path) {
  std::erase_if(saved_, [&](const auto& file) { return file.first == path || file.first.starts_with(path + "/"); });
}

// What of a file's unsynced bytes is there after a cut.
std::string Disk::after_cut(const Node& node, TrialDraws& draws, bool keeps_nothing) {
  if (node.changes.empty() || keeps_nothing) return node.synced_bytes;
  std::string bytes = node.synced_bytes;
  switch (draws.below(5)) {
    case 0:
      return bytes;
    case 1:
      return node.bytes;
    case 2: {  // the first changes, and the last of them torn
      const size_t whole = draws.below(node.changes.size());
      for (size_t i = 0; i < whole; ++i) apply(bytes, node.changes[i]);
      Change torn = node.changes[whole];
      if (torn.truncates) return bytes;
      const size_t end = (torn.at + draws.below(torn.data.size() + 1)) / kSector * kSector;
      if (end <= torn.at) return bytes;
      torn.data.resize(end - torn.at);
      apply(bytes, torn);
      return bytes;
    }
    case 3: {  // each block old, new or never written, in a file of the new size
      const size_t block = draws.below(2) == 0 ? kSector : kPage;
      bytes.resize(node.bytes.size(), '\0');
      for (size_t begin = 0; begin < bytes.size(); begin += block) {
        const uint64_t choice = draws.below(3);
        if (choice == 0) bytes.replace(begin, block, node.bytes.substr(begin, block));
        if (choice == 1 && begin >= node.synced_bytes.size()) {
          bytes.replace(begin, block, std::min(block, bytes.size() - begin), '\0');
        }
      }
      return bytes;
    }
    default:  // the new size, and nothing written
      bytes.resize(node.bytes.size(), '\0');
      return bytes;
  }
}

void Disk::write_out(const std::vector<Entries>& entries, size_t node, const fs::path& into, TrialDraws& draws,
                     bool keeps_nothing) const {
  if (!nodes_[node].is_folder) return write_plainly(into, after_cut(nodes_[node], draws, keeps_nothing));
  fs::create_directories(into);
  for (const auto& [name, inner] : entries[node]) write_out(entries, inner, into / name, draws, keeps_nothing);
}

std::string Disk::cut(TrialDraws& draws, const fs::path& into) const {
  std::vector<Entries> entries;
  for (const Node& node : nodes_) entries.push_back(node.synced_entries);
  enum { kNoNames, kAllNames, kFirstNames, kSomeNames };
  const uint64_t choice = draws.below(4);
  const bool keeps_nothing = draws.below(3) == 0;
  const size_t first = draws.below(unsynced_.size() + 1);
  size_t kept = 0;
  for (size_t i = 0; i < unsynced_.size(); ++i) {
    const bool some = draws.below(2) == 0;
    if (choice == kNoNames || (choice == kFirstNames && i >= first) || (choice == kSomeNames && !some)) continue;
    ++kept;
    const Renaming& renaming = unsynced_[i];
    for (const Entry& entry : renaming.entries) {
      Entries& names = entries[entry.folder];
      if (!entry.node) {
        names.erase(entry.name);
        continue;
      }
      // A folder has one name: the one before goes where the rename that took it away was lost.
      if (nodes_[*entry.node].is_folder) std::erase_if(names, [&](const auto& e) { return e.second == *entry.node; });
      names[entry.name] = *entry.node;
    }
  }
  write_out(entries, 0, into, draws, keeps_nothing);
  return std::to_string(kept) + " of " + std::to_string(unsynced_.size()) + " unsynced names and " +
         (keeps_nothing ? "no" : "parts of the") + " unsynced bytes kept";
}

std::vector<std::string> Disk::losses(const fs::path& folder) const {
  std::vector<std::string> sentences;
  for (const auto& [path, contents] : saved_) {
    const std::string below = path.substr(folder_.size() + 1);
    if (!fs::exists(folder / below)) {
      sentences.push_back(below + " was saved and is not there");
      continue;
    }
    // A journal grows behind what was put there.
    const std::string bytes = read_file(folder / below);
    const bool is_there = std::any_of(contents.begin(), contents.end(),
                                      [&](const std::string& content) { return bytes.starts_with(content); });
    if (!is_there) sentences.push_back(below + " was saved and has other bytes");
  }
  return sentences;
}

std::vector<std::string> Disk::differences(const fs::path& folder) const {
  std::map<std::string, std::string> files;
  note_files(folder_, 0, files);
  std::vector<std::string> sentences;
  size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ++found;
    const std::string below = entry.path().lexically_relative(folder).string();
    const auto known = files.find(folder_ + "/" + below);
    // A point's output is a stream of the C library.
    const bool is_log = entry.path().filename() == "log.txt";
    if (known == files.end()) {
      sentences.push_back(below + " is not in the recording");
    } else if (!is_log && known->second != read_file(entry.path())) {
      sentences.push_back(below + " has other bytes in the recording");
    }
  }
  if (found != files.size()) sentences.push_back("the recording has files that are not there");
  return sentences;
}

}  // namespace eggroll::test
