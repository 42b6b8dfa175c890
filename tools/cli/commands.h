// The commands, one function each; every one returns the exit code. Errors are thrown as eggroll::Error.
#ifndef EGGROLL_TOOLS_CLI_COMMANDS_H
#define EGGROLL_TOOLS_CLI_COMMANDS_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/host.h"
#include "experiment/launcher.h"
#include "train/sample.h"

namespace eggroll {

using Overrides = std::vector<std::string>;

// run.cpp. show_monitor: prints each look of the monitor; if monitor.every is 0, there is one at every held-out
// evaluation.
int run_command(const HostOptions& host, const Overrides& overrides, const std::vector<std::string>& command_line,
                bool show_monitor);
// A run of its own that goes on from a checkpoint of another with its settings and these changes.
struct ForkArguments {
  std::string from;                            // RUN, RUN@best or RUN@STEP
  std::vector<std::filesystem::path> plugins;  // folders that find_plugins_of_run() may search
};
int fork_command(const HostOptions& host, const ForkArguments& arguments, const Overrides& changes,
                 const std::vector<std::string>& command_line, bool show_monitor);
// multirun.cpp. All are composed before the first begins; one that fails does not stop the others.
int multirun_command(const HostOptions& host, const Overrides& overrides, bool show_monitor);
struct ResumeArguments {
  std::filesystem::path run;
  std::vector<std::filesystem::path> plugins;  // folders that find_plugins_of_run() may search
  std::filesystem::path only_plugins;          // the only folder to take plugins from; empty: see above
  bool hook = false;                           // start the program that the run's eval.hook names
  MovedData data;
};
int resume_command(const ResumeArguments& arguments, const std::vector<std::string>& command_line, bool show_monitor);

// sweep.cpp
int points_command(const HostOptions& host, const Overrides& overrides, bool json);
struct SweepArguments {
  LocalWorkers workers;
  bool retry_failed = false;
  bool keep_going = false;
  bool fail_fast = false;
  uint32_t breaker = 5;
};
int sweep_command(const HostOptions& host, const Overrides& overrides, const SweepArguments& arguments);
// point.cpp. Runs one element of a submission (experiment/submission.h). where: the job's name for the point's log.
int point_command(const std::filesystem::path& submission, uint64_t element, const std::string& where);

// checkpoints.cpp
struct ReplayArguments {
  std::filesystem::path run;
  std::vector<std::filesystem::path> plugins;
  uint64_t steps = 0;  // 0: all
};
int replay_command(const ReplayArguments& arguments);
struct SampleArguments {
  std::filesystem::path run;
  std::vector<std::filesystem::path> plugins;
  SampleOptions options;
  uint32_t samples = 1;
  bool json = false;
  std::string prompt;
  std::string checkpoint = "end";   // see choose_checkpoint()
  std::string weights = "weights";  // or "average"
  MovedData data;                   // only the vocabulary may be set
};
int sample_command(const SampleArguments& arguments);

// evaluate.cpp
struct EvalArguments {
  std::filesystem::path run;
  std::vector<std::filesystem::path> plugins;
  std::string text;                 // the file or pattern to evaluate on; empty: the run's held-out part
  bool test = false;                // or its test split
  std::string checkpoint = "end";   // see choose_checkpoint()
  std::string weights = "weights";  // or "average"
  bool json = false;
  MovedData data{{}, {}, {}, "--train-data"};
};
int eval_command(const EvalArguments& arguments);

// inspect.cpp
int show_command(const HostOptions& host, const Overrides& overrides);
// Prints the configuration of a run or of a sweep's first point. Then it throws Error if a run would refuse it before
// reading data.
int config_command(const HostOptions& host, const Overrides& overrides);

// runs.cpp. Lists runs, the newest first. words: a folder (default: results), and filters key=value.
int ls_command(const std::vector<std::string>& words, bool json);
// rm.cpp. Without force, a run that a report, a sweep or another run refers to stays, and all others with it.
int rm_command(const std::vector<std::string>& runs, bool force);
// labels.cpp. Both print what the run has then.
int tag_command(const std::string& run, const std::vector<std::string>& tags, bool removes);
int note_command(const std::string& run, const std::optional<std::string>& text);

// keys.cpp. Prints groups and options, or what is below a group or a key; key: "" for all.
int keys_command(const HostOptions& host, const std::string& key, const Overrides& overrides, bool json);

// plugins.cpp
int plugins_command(const HostOptions& host, bool json);
struct CheckArguments {
  std::string plugin;
  // For a backend: run only random cases, the first with this seed.
  std::optional<uint64_t> seed;
  std::optional<uint64_t> cases;
};
int check_command(const HostOptions& host, const CheckArguments& arguments);
int new_command(const std::string& kind, const std::string& name, const std::filesystem::path& destination);

// report.cpp. out: the folder for findings; empty: RESULTS/report.
int report_command(const std::filesystem::path& results, const std::filesystem::path& out);
int compare_command(const std::filesystem::path& a, const std::filesystem::path& b, bool json);
// An empty path means that this format is not wanted.
int export_command(const std::filesystem::path& results, const std::filesystem::path& csv,
                   const std::filesystem::path& tensorboard);

}  // namespace eggroll

#endif
