#include "train/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "config/hash.h"
#include "config/yaml.h"
#include "record/record.h"
#include "system/files.h"
#include "train/checkpoint.h"
#include "train/journal.h"
#include "train/setup.h"

namespace eggroll {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kNameDigits = 12;  // of the hash, in a folder's name

void make_absolute(ConfigNode* path) {
  if (path == nullptr || path->kind() != ConfigNode::Kind::kText) return;
  *path = ConfigNode(absolute_path(path->text()), path->source());
}

// Only what a run's hash has (config/host_settings.h).
ordered_json hashed_keys(ordered_json config) {
  const auto init = config.find("init");
  if (init != config.end() && init->is_object() && init->value("from", ordered_json()).is_null()) config.erase(init);
  for (const HostSetting& setting : host_settings()) {
    if (setting.in_hash == InHash::kYes) continue;
    std::string path = "/" + std::string(setting.key);
    std::replace(path.begin(), path.end(), '.', '/');
    const ordered_json::json_pointer place(path);
    if (!config.contains(place)) continue;
    const bool is_left_out =
        setting.in_hash != InHash::kUnlessAbsent || config.at(place) == ordered_json::parse(setting.absent);
    if (is_left_out) config.at(place.parent_pointer()).erase(place.back());
  }
  return config;
}

// The hash without the names of files.
std::string settings_hash(ordered_json config) {
  for (const std::string& key : kDataFiles) {
    const bool named =
        config.contains("dataset") && config["dataset"].contains(key) && config["dataset"][key].is_string();
    if (named) config["dataset"][key] = "a file";
  }
  return json_hash(hashed_keys(std::move(config)), kOutsideHash);
}

// "" where there is no journal that can be read.
std::string hash_of_journal(const RunFolder& folder) try {
  return fs::exists(folder.journal()) ? JournalReader(folder.journal()).config_hash() : "";
} catch (const Error&) {
  return "";
}

}  // namespace

std::string absolute_path(const std::string& text) {
  if (text.empty()) return text;
  const char* home = std::getenv("HOME");
  const bool is_at_home = home != nullptr && (text == "~" || text.starts_with("~/"));
  std::error_code failure;
  const fs::path path = fs::absolute(is_at_home ? home + text.substr(1) : text, failure);
  return failure ? text : path.lexically_normal().string();
}

ConfigNode with_absolute_paths(ConfigNode config) {
  for (const std::string& key : kDataFiles) make_absolute(config.find("dataset." + key));
  ConfigNode* folders = config.find("plugins.path");
  if (folders != nullptr && folders->kind() == ConfigNode::Kind::kList) {
    for (ConfigNode& folder : folders->list()) make_absolute(&folder);
  }
  ConfigNode* program = config.find("eval.hook.0");
  const bool has_folder = program != nullptr && program->kind() == ConfigNode::Kind::kText &&
                          program->text().find('/') != std::string::npos;
  if (has_folder) make_absolute(program);  // another one is looked for in PATH
  return config;
}

std::string run_hash(const ConfigNode& config) { return json_hash(hashed_keys(to_json(config)), kOutsideHash); }

std::string hash_in(const RunFolder& folder, const ConfigNode& config) {
  const std::string own = run_hash(config);
  const std::string begun = hash_of_journal(folder);
  if (begun.empty() || begun == own || !fs::exists(folder.record())) return own;
  const bool is_same = settings_hash(read_record(folder.record()).config) == settings_hash(to_json(config));
  return is_same ? begun : own;
}

void KnownRuns::add(const fs::path& folder, size_t number, const std::string& label) try {
  const RunFolder run{folder};
  if (!fs::exists(run.config())) return;
  const ConfigNode config = with_absolute_paths(read_config(run));
  runs_.emplace(settings_hash(to_json(config)) + label, Known{run, number, run_hash(config)});
} catch (const Error&) {
  return;  // a damaged folder is no reason not to begin another run
}

std::optional<size_t> KnownRuns::find(const ConfigNode& config, const std::string& label) {
  const auto [first, last] = runs_.equal_range(settings_hash(to_json(config)) + label);
  const std::string hash = run_hash(config);
  for (auto known = first; known != last; ++known) {
    if (known->second.hash == hash) return known->second.number;
  }
  for (auto known = first; known != last; ++known) {
    if (has_data(known->second.folder, config)) return known->second.number;
  }
  return std::nullopt;
}

// Whether the run in the folder read the data that the configuration names.
bool KnownRuns::has_data(const RunFolder& folder, const ConfigNode& config) try {
  if (!fs::exists(folder.record())) return false;
  const RunRecord record = read_record(folder.record());
  if (!record.dataset) return false;
  std::string& hash = data_hashes_[to_json(config.at("dataset")).dump()];
  if (hash.empty()) hash = open_dataset_of(config).sha256;
  return record.dataset->sha256 == hash;
} catch (const Error&) {
  return false;  // the run says what is wrong with its data
}

fs::path run_folder_of(const ConfigNode& config) {
  const fs::path results = config.at("results.dir").text();
  const std::string name = scalar_text(config.at("name")) + "-";
  const fs::path own = results / (name + run_hash(config).substr(0, kNameDigits));
  if (fs::exists(own)) return own;
  const std::vector<fs::path> folders = paths_in(results);
  KnownRuns known;
  for (size_t i = 0; i < folders.size(); ++i) {
    const std::string other = folders[i].filename().string();
    if (other.starts_with(name) && other.size() == name.size() + kNameDigits) known.add(folders[i], i);
  }
  const std::optional<size_t> found = known.find(config);
  return found ? folders[*found] : own;
}

RunIdentity identity_of(const Learner& learner, const ConfigNode& config, const RunFolder& folder) {
  return RunIdentity{hex64(EGG_SPEC_HASH), learner.program->hash(), learner.rule->hash(), hash_in(folder, config)};
}

void require_same_data(const Setup& setup, const RunFolder& folder) {
  if (!std::filesystem::exists(folder.record())) return;
  const RunRecord earlier = read_record(folder.record());
  if (earlier.dataset) require_same_data(setup, folder, earlier.dataset->sha256);
}

void require_same_data(const Setup& setup, const RunFolder& folder, const std::string& begun_with) {
  if (begun_with == setup.dataset.sha256) return;
  throw Error(
      fmt::format("the data have changed since the run in {} began (sha256 {}, then {}); restore them, name them where "
                  "they are now (eggroll resume --data FILE), or remove the folder to begin anew",
                  folder.path.string(), setup.dataset.sha256, begun_with));
}

}  // namespace eggroll
