// eggroll tag, eggroll note.
#include "cli/labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/runs.h"
#include "record/json.h"
#include "record/run_lock.h"
#include "record/seal.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr const char* kCure = "restore it from a copy, or delete it to have no tags and no note";

std::filesystem::path file_of(const RunFolder& folder) { return folder.path / "labels.json"; }

void require_tag(const std::string& tag) {
  const bool is_sound =
      tag.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == std::string::npos;
  if (!tag.empty() && tag.size() <= 40 && is_sound) return;
  throw Error(fmt::format("the tag is '{}', expected 1 to 40 letters, digits, _, - and .; correct it", escaped(tag)));
}

// A terminal would obey control characters, and JSON holds no broken UTF-8.
void require_note(const std::string& note) {
  if (escaped(note) == note) return;
  throw Error(fmt::format("the note is '{}', expected text without control characters and broken UTF-8; correct it",
                          escaped(note)));
}

// Held while labels are read and written anew. Who only reads them needs no right to write there.
FileLock lock_labels(const RunFolder& folder) { return FileLock(folder.path / "labels.lock"); }

int print_tags(const Labels& labels) {
  fmt::print("{}\n", fmt::join(labels.tags, "\n"));
  return 0;
}

}  // namespace

Labels read_labels(const RunFolder& folder) {
  const std::filesystem::path file = file_of(folder);
  Labels labels;
  if (!is_there(file)) return labels;
  const ordered_json json = read_json(file, kCure);
  if (!json.is_object() || seal_of(json) != Seal::kWhole) {
    throw Error(fmt::format("{} is damaged; {}", file.string(), kCure));
  }
  read_members(file.string(), kCure, [&] {
    labels.tags = json.at("tags").get<std::vector<std::string>>();
    labels.note = json.at("note").get<std::string>();
  });
  try {
    for (const std::string& tag : labels.tags) require_tag(tag);
    require_note(labels.note);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()));
  }
  return labels;
}

void write_labels(const RunFolder& folder, const Labels& labels) {
  write_atomically(file_of(folder), sealed({{"tags", labels.tags}, {"note", labels.note}}).dump(2) + "\n");
}

namespace {

// Prints what the run has then, and so does note_command().
int tag_command(const std::filesystem::path& run, const std::vector<std::string>& tags, bool removes) {
  const RunFolder folder = existing_run(run);
  for (const std::string& tag : tags) require_tag(tag);
  if (tags.empty()) return print_tags(read_labels(folder));
  const FileLock lock = lock_labels(folder);
  Labels labels = read_labels(folder);
  for (const std::string& tag : tags) {
    const auto found = std::find(labels.tags.begin(), labels.tags.end(), tag);
    const bool is_there = found != labels.tags.end();
    if (removes && !is_there) {
      throw Error(fmt::format("{} has no tag '{}', expected one of: {}; correct it", folder.path.string(), tag,
                              labels.tags.empty() ? "none" : fmt::format("{}", fmt::join(labels.tags, ", "))));
    }
    if (removes) labels.tags.erase(found);
    if (!removes && !is_there) labels.tags.push_back(tag);
  }
  write_labels(folder, labels);
  return print_tags(labels);
}

int note_command(const std::filesystem::path& run, const std::optional<std::string>& text) {
  const RunFolder folder = existing_run(run);
  if (text) {
    require_note(*text);
    const FileLock lock = lock_labels(folder);
    Labels labels = read_labels(folder);
    labels.note = *text;
    write_labels(folder, labels);
  }
  fmt::print("{}\n", read_labels(folder).note);
  return 0;
}

}  // namespace

void commands::declare_tag(CommandLine& line) {
  static std::filesystem::path run;
  static std::vector<std::string> tags;
  static bool removes = false;
  CLI::App* command = line.add("tag", "Tag a run, or print its tags: eggroll tag RUN baseline; eggroll ls tag=baseline",
                               [] { return tag_command(run, tags, removes); });
  line.takes_run(command, run);
  command->add_option("tags", tags, "Tags to add; the run's are printed if there are none");
  command->add_flag("--remove", removes, "Take these tags away");
}

void commands::declare_note(CommandLine& line) {
  static std::filesystem::path run;
  static std::string text;  // newer versions of CLI11 leave a std::optional empty where the text is
  static const CLI::Option* given = nullptr;
  CLI::App* command = line.add("note", "Write a note to a run, or print it: eggroll note RUN 'diverged at 800'", [] {
    return note_command(run, given->count() > 0 ? std::optional(text) : std::nullopt);
  });
  line.takes_run(command, run);
  given = command->add_option("text", text, "The note, which replaces the one before; '' for none");
}

}  // namespace eggroll
