#include "experiment/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "config/settings_block.h"
#include "eggroll/error.h"
#include "system/process.h"
#include "system/text.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

// The keys of the section that are options of sbatch.
const std::vector<std::pair<std::string, std::string>> kResources = {
    {"partition", "partition"}, {"account", "account"}, {"qos", "qos"},   {"time", "time"},
    {"cpus", "cpus-per-task"},  {"memory", "mem"},      {"gpus", "gpus"}, {"constraint", "constraint"}};

constexpr double kLongestPoll = 3600.0;

std::string resource_in(const ConfigNode& node, const std::string& key) {
  const std::optional<int64_t> number = whole_number(node);
  if (number && *number > 0) return std::to_string(*number);
  if (node.kind() == Kind::kText && !node.text().empty()) return node.text();
  throw wrong(node.source(), fmt::format("launcher.{} is {}, expected a number above 0, or text as sbatch takes it; "
                                         "correct it, or leave it null",
                                         key, shown_value(node)));
}

std::vector<std::string> further_options(const ConfigNode& node) {
  std::vector<std::string> options;
  const bool is_list = node.kind() == Kind::kList;
  for (const ConfigNode& one : is_list ? node.list() : ConfigNode::List{node}) {
    if (!is_list || one.kind() != Kind::kText || !one.text().starts_with("-")) {
      throw wrong(one.source(),
                  fmt::format("launcher.options has {}, expected a list of sbatch's options, each such as "
                              "\"--exclude=node7\"",
                              shown_value(one)));
    }
    options.push_back(one.text());
  }
  return options;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!trimmed(line).empty()) lines.push_back(trimmed(line));
  }
  return lines;
}

std::optional<uint64_t> number_of(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The output of the command; throws the command's own words if it fails.
std::string asked(const std::vector<std::string>& words, const std::string& cure) {
  ToolResult result;
  try {
    result = run_tool(words);
  } catch (const Error& error) {
    throw SlurmError(
        fmt::format("{}, expected Slurm's commands on this machine; sweep from a cluster's login node, or with "
                    "launcher=local",
                    error.what()));
  }
  if (result.exit_code == 0) return result.output;
  const std::vector<std::string> lines = lines_of(result.output);
  throw SlurmError(fmt::format("{} failed with exit code {}: {}; {}", words[0], result.exit_code,
                               lines.empty() ? "it gave no reason" : fmt::format("{}", fmt::join(lines, "; ")), cure));
}

}  // namespace

SlurmSettings read_slurm(const ConfigNode& section) {
  std::vector<std::string> keys = {"name", "options", "at_once", "poll_seconds"};
  SlurmSettings settings;
  for (const auto& [key, option] : kResources) {
    keys.push_back(key);
    const ConfigNode& node = section.at(key);
    if (node.kind() != Kind::kNull) settings.options.push_back(fmt::format("--{}={}", option, resource_in(node, key)));
  }
  require_only(section, keys);
  for (const std::string& option : further_options(section.at("options"))) settings.options.push_back(option);
  const ConfigNode& at_once = section.at("at_once");
  const std::optional<int64_t> most = whole_number(at_once);
  if (most && *most > 0) {
    settings.at_once = most;
  } else if (at_once.kind() != Kind::kNull) {
    throw wrong(
        at_once.source(),
        fmt::format("launcher.at_once is {}, expected an integer above 0, or null; correct it", shown_value(at_once)));
  }
  const ConfigNode& poll = section.at("poll_seconds");
  const bool is_number = poll.kind() == Kind::kReal || poll.kind() == Kind::kInteger;
  if (is_number) settings.poll_seconds = poll.kind() == Kind::kReal ? poll.real() : static_cast<double>(poll.integer());
  if (!is_number || !(settings.poll_seconds >= 0.1 && settings.poll_seconds <= kLongestPoll)) {
    throw wrong(poll.source(), fmt::format("launcher.poll_seconds is {}, expected a number from 0.1 to {}; correct it",
                                           shown_value(poll), kLongestPoll));
  }
  return settings;
}

std::filesystem::path script_in(const std::filesystem::path& folder) { return folder / "job.sh"; }

std::vector<std::string> sbatch_command(const SlurmSettings& settings, const SlurmArray& array) {
  std::vector<std::string> words = {"sbatch", "--parsable", "--job-name=" + array.name};
  words.push_back(fmt::format("--array=0-{}{}", array.count - 1,
                              settings.at_once ? fmt::format("%{}", *settings.at_once) : std::string()));
  words.push_back("--chdir=" + std::filesystem::current_path().string());
  words.push_back("--output=" + (array.folder / "%a.out").string());
  for (const char* option : {"--nodes=1", "--ntasks=1", "--requeue", "--open-mode=append"}) words.emplace_back(option);
  words.insert(words.end(), settings.options.begin(), settings.options.end());
  words.push_back(script_in(array.folder).string());
  return words;
}

std::string script_text(const std::filesystem::path& executable, const std::filesystem::path& folder) {
  return fmt::format(
      "#!/bin/sh\n"
      "# One point of the sweep: a line of elements.jsonl.\n"
      "exec {} point {} \"$SLURM_ARRAY_TASK_ID\" \\\n"
      "  --where \"slurm ${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME\"\n",
      shell_word(executable.string()), shell_word(folder.string()));
}

std::string submit(const SlurmSettings& settings, const SlurmArray& array) {
  const std::string output = asked(sbatch_command(settings, array), "correct the section launcher");
  // "12", or "12;cluster"; warnings may stand around it.
  for (const std::string& line : lines_of(output)) {
    const std::string id = line.substr(0, line.find(';'));
    if (number_of(id)) return id;
  }
  throw SlurmError(
      fmt::format("sbatch printed '{}', expected the number of a job; look for the job with squeue", trimmed(output)));
}

std::vector<QueuedElement> read_queue(const std::string& squeue_output) {
  std::vector<QueuedElement> elements;
  for (const std::string& line : lines_of(squeue_output)) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, '|');) fields.push_back(field);
    if (fields.size() != 4) continue;  // a warning
    const std::optional<uint64_t> number = number_of(fields[1]);
    if (!number) continue;  // no array
    elements.push_back({fields[0], fields[3], *number, fields[2] != "PENDING"});
  }
  return elements;
}

std::vector<QueuedElement> ask_queue() {
  return read_queue(asked({"squeue", "--me", "--noheader", "--array", "--format=%F|%K|%T|%j"},
                          "check that Slurm runs, and try again"));
}

uint64_t most_elements() {
  constexpr const char* kKey = "MaxArraySize";
  for (const std::string& line :
       lines_of(asked({"scontrol", "show", "config"}, "check that Slurm runs, and try again"))) {
    const size_t equals = line.find('=');
    if (!line.starts_with(kKey) || equals == std::string::npos) continue;
    const std::optional<uint64_t> most = number_of(trimmed(line.substr(equals + 1)));
    if (most && *most > 0) return *most;
  }
  throw SlurmError("scontrol shows no MaxArraySize, expected a cluster that takes job arrays; use launcher=local");
}

void cancel(const std::vector<std::string>& jobs, bool only_waiting) {
  if (jobs.empty()) return;
  std::vector<std::string> words = {"scancel", "--quiet"};
  if (only_waiting) words.emplace_back("--state=PENDING");
  words.insert(words.end(), jobs.begin(), jobs.end());
  asked(words, "cancel them yourself");
}

ToolResult run_tool(const std::vector<std::string>& words) {
  Pipe pipe = open_pipe();
  pid_t child = 0;
  const int failure = spawn(words, {false, &*pipe.input, &*pipe.input, true}, child);
  if (failure != 0) {
    throw Error(fmt::format("cannot start {}: {}", words[0], std::generic_category().message(failure)));
  }
  pipe.input.reset();
  ToolResult result;
  result.output = read_to_end(pipe.output);
  const int status = wait_for(child);
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace eggroll
