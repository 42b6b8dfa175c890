// eggroll run, eggroll resume; the life of a run in the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "cli/begin_run.h"
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/stops.h"
#include "cli/terminal.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "experiment/launcher.h"
#include "monitor/display.h"
#include "plugin/calls.h"
#include "processes/processes.h"
#include "record/sentence.h"
#include "system/files.h"
#include "system/number_text.h"
#include "system/text.h"
#include "train/beginning.h"
#include "train/identity.h"
#include "train/run.h"

namespace eggroll {
namespace fs = std::filesystem;
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int64_t> first_stop{0};  // in seconds of the steady clock; 0: none
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

// The first signal lets the step finish, or the process is ended that cannot (end_hung_calls()); a later one ends it. A
// second Ctrl-C does so at once. SIGTERM may come twice, from the batch system and from the sweep's runner, and so may
// SIGHUP, from the terminal and from its shell. So two of these within some seconds count as one.
void request_stop(int number) {
  constexpr int64_t kOneWish = 5;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (!stop_requested.load()) {
    first_stop.store(now.tv_sec);
  } else if (now.tv_sec - first_stop.load() > kOneWish) {
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
  stop_signal.store(number);
  stop_requested.store(true);
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  sigaction(SIGTERM, &action, nullptr);
  catch_hangup(request_stop);
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

// The progress is one line, which is rewritten on a terminal; elsewhere a new line is printed every few seconds.
class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { finish(); }

  void operator()(const Progress& p) {
    const auto now = std::chrono::steady_clock::now();
    const bool last = p.done.step == p.steps;
    if (!last && now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(3000))) return;
    shown_ = now;
    say(terminal_ ? "\r\033[K" + text_of(p) : text_of(p) + "\n");
    unended_ = terminal_;
    if (last) finish();
  }
  // Prints lines in place of the progress, which then follows below.
  void print_above(const std::string& lines) {
    say((terminal_ ? "\r\033[K" : "") + lines);
    unended_ = false;
  }
  // Ends a line that the terminal still shows, so that other text may follow.
  void finish() {
    if (unended_) say("\n");
    unended_ = false;
  }
  // NO_COLOR: no-color.org.
  bool takes_colour() const {
    const char* no_colour = std::getenv("NO_COLOR");
    return terminal_ && (no_colour == nullptr || *no_colour == '\0');
  }

 private:
  static std::string bar_of(const Progress& p) {
    constexpr uint64_t kCells = 8;
    const uint64_t done = p.done.step * kCells / std::max<uint64_t>(p.steps, 1);
    return "[" + std::string(done, '#') + std::string(kCells - done, '.') + "]";
  }

  // Shows only the parts that fit, because half a number would look like another one. Leaves room for an echoed ^C.
  std::string text_of(const Progress& p) const {
    const size_t width = terminal_ ? std::max<size_t>(terminal_width(), 4) - 3 : std::string::npos;
    const std::string held_out = p.held_out ? fmt::format("{:.4f}", p.held_out->bits_per_unit) : "-";
    // On 80 columns a run of 100,000 steps shows all but averages and speed.
    std::vector<std::string> parts = {fmt::format("{} left", duration_text(p.seconds_left)),
                                      fmt::format("loss {:.4f}", p.done.numbers->bits_per_unit),
                                      fmt::format("held-out {}{}{}", held_out, terminal_ ? "/" : " bits per ", p.unit)};
    if (terminal_) parts.insert(parts.begin(), bar_of(p));
    if (p.average) parts.push_back(fmt::format("average of weights {:.4f}", p.average->bits_per_unit));
    parts.push_back(fmt::format("{:.0f} member tokens/s", p.member_tokens_per_second));
    std::string line = fmt::format("step {}/{}", p.done.step, p.steps);
    for (const std::string& part : parts) {
      if (line.size() + 2 + part.size() > width) break;
      line += "  " + part;
    }
    return line.substr(0, width);
  }

  bool terminal_ = on_terminal();
  bool unended_ = false;
  std::chrono::steady_clock::time_point shown_{};
};

void print_summary(const RunRecord& record, const RunFolder& folder) {
  if (record.final) {
    say_line(fmt::format("held-out {:.4f} bits per {} after {} steps (all {} tokens, unperturbed)",
                         record.final->bits_per_unit, record.final->unit, record.final->step, record.final->tokens));
  }
  if (record.average && record.average->final) {
    say_line(fmt::format("average of weights: held-out {:.4f} bits per {} (the same tokens)",
                         record.average->final->bits_per_unit, record.average->final->unit));
  }
  if (record.newest && record.best) {
    say(fmt::format("on the curve's {} tokens: {:.4f}, best {:.4f} after {} steps\n", record.newest->tokens,
                    record.newest->bits_per_unit, record.best->bits_per_unit, record.best->step));
  }
  if (record.average && record.average->newest) {
    say(fmt::format("average of weights on the curve's tokens: {:.4f}\n", record.average->newest->bits_per_unit));
  }
  if (record.stopped_because) say_line("stopped: " + *record.stopped_because);
  say_line(baselines_line(record.baselines));
  if (record.dataset && record.dataset->facts.contains("entropy_rate_bits")) {
    say(fmt::format("entropy rate of the source: {:.4f}\n",
                    record.dataset->facts.at("entropy_rate_bits").get<double>()));
  }
  if (record.parameters && record.checkpoint_bytes) {
    say(fmt::format("{} weights; a checkpoint takes {}\n", *record.parameters, memory_text(*record.checkpoint_bytes)));
  }
  say(fmt::format("{} member tokens ({} stream tokens) in {}\n", record.member_tokens, record.unique_tokens,
                  duration_text(record.wall_seconds)));
  if (record.weights_sha256) say_line("weights sha256 " + *record.weights_sha256);
  say_line("record " + folder.record().string());
  if (record.curve_file) say_line("curve  " + folder.curve().string());
  if (record.samples_file) say_line("sample " + folder.samples().string());
}

bool names_hook(const ConfigNode& config) {
  const ConfigNode* hook = config.find("eval.hook");
  return hook != nullptr && hook->kind() != ConfigNode::Kind::kNull;
}

// The end of a sentence.
std::string how_to_go_on(const RunFolder& folder, const Registry& registry, bool has_hook) {
  std::string plugins;  // the run's own configuration cannot name plugin folders
  for (const PluginFolder& each : registry.folders()) {
    const bool is_of_user = each.origin == "plugins.path" || each.origin == "--plugins";
    if (!is_of_user && each.origin != "--only-plugins") continue;
    plugins += fmt::format(" {} {}", is_of_user ? "--plugins" : each.origin, shell_word(each.path.string()));
  }
  return fmt::format("eggroll resume {}{}{}", shell_word(folder.path.string()), plugins, has_hook ? " --hook" : "");
}

// Returns the exit code of a process that a signal ended, as shells count it. Only process 0 returns it, because mpirun
// ends all processes when one fails, and would end process 0 before its last line. A signal to another process counts
// as SIGTERM.
int interrupted(const RunResult& result, const Registry& registry, bool has_hook) {
  if (!result.leads) return 0;
  say_line(fmt::format("interrupted after {} of {} steps, saved; go on with: {}", result.record.steps, result.steps,
                       how_to_go_on(result.folder, registry, has_hook)));
  const int signal = stop_signal.load();
  return 128 + (signal != 0 ? signal : SIGTERM);
}

// The same configuration, with a look of the monitor at every evaluation if monitor.every is 0.
ConfigNode with_monitor(ConfigNode config) {
  if (config.at("monitor.every").integer() == 0) {
    *config.find("monitor.every") = ConfigNode(config.at("eval.every").integer(), Source{"command line '--monitor'"});
  }
  return config;
}

int print_end(const RunResult& result, const Registry& registry, bool has_hook) {
  if (result.record.status == RunStatus::kInterrupted) return interrupted(result, registry, has_hook);
  if (!result.leads) return 0;
  if (result.ended_before) {
    say_line(fmt::format("this run is finished already; remove {} to run it again", result.folder.path.string()));
    if (!result.other_builds.empty()) {
      say_line(
          fmt::format("other builds of {} made it, with the same program and rule as today's", result.other_builds));
    }
  }
  print_summary(result.record, result.folder);
  return 0;
}

// Trains alone, or as one of the processes that a launcher started for this run. folder_of: see run_in_folder().
template <class FolderOf>
int train_in(const ConfigNode& config, FolderOf&& folder_of, const Registry& registry, const Invocation& invocation,
             bool show_monitor) {
  outlive_reader();
  ProgressLine progress;
  std::string backend;
  RunHooks hooks;
  hooks.joined = [](const Processes& processes) {
    if (!processes.is_first() && std::freopen("/dev/null", "w", stdout) == nullptr) {
      throw file_error("open", "/dev/null", errno);
    }
  };
  hooks.opened = [&](const Setup& setup) {
    const ChosenPlugin& chosen = setup.learner.plugins.back();
    backend = chosen.file.name;
    say(fmt::format("backend {}: {}\n", backend, chosen.reason));
  };
  hooks.begins = [&](const RunFolder& folder, const Processes& processes) {
    catch_signals();
    end_hung_calls(stop_signal,
                   fmt::format("fix the plugin, or choose another, and go on from the last checkpoint with: {}",
                               how_to_go_on(folder, registry, names_hook(config))));
    say_line("run folder " + folder.path.string());
    if (const ConfigNode* from = config.find("init.from"); from != nullptr && from->kind() == ConfigNode::Kind::kText) {
      say_line(fmt::format(
          "{} {}", config.at("init.continue").boolean() ? "goes on from" : "begins with the weights of", from->text()));
    }
    if (!processes.alone()) say(fmt::format("{} processes share the run's members\n", processes.size()));
  };
  hooks.train.planned = [&](const SessionPlan& plan) {
    say(fmt::format("{} on {}: {}; {} of memory\n", backend, plan.device, plan.plan, memory_text(plan.memory)));
  };
  hooks.train.progress = [&](const Progress& p) {
    if (show_monitor && p.done.monitor) {
      progress.print_above(monitor_table(*p.done.monitor, progress.takes_colour(), row_width()));
    }
    progress(p);
  };
  hooks.train.warn = [&](const std::string& text) {
    progress.finish();
    print_error("eggroll", text);
  };
  hooks.train.stop = &stop_requested;
  hooks.fails = [&](const Processes& processes, const std::string& sentence) {
    progress.finish();
    print_error(fmt::format("eggroll: process {} of {}", processes.index(), processes.size()), sentence);
    std::fflush(nullptr);
  };
  const RunResult result = run_in_folder(config, folder_of, registry, invocation, hooks);
  progress.finish();
  return print_end(result, registry, names_hook(config));
}

}  // namespace

void require_no_sweep(const ConfigNode& config) {
  const ConfigNode* const sweep = config.find("sweep");
  if (sweep == nullptr) return;
  throw wrong(
      sweep->source(),
      "the experiment is a sweep; run it with eggroll sweep, or run one point with ~sweep and a value for each axis");
}

int begin_run(ConfigNode config, const Overrides& overrides, const std::vector<std::string>& command_line,
              bool show_monitor, const std::function<Registry(const ConfigNode&)>& registry_of) {
  require_no_sweep(config);
  for (const std::string& text : overrides) {
    if (!is_of_launcher(text)) continue;
    throw Error(
        fmt::format("'{}' is for eggroll sweep, and eggroll run starts one run on this machine; leave it out", text));
  }
  erase_launcher(config);
  if (show_monitor) config = with_monitor(std::move(config));
  config = with_beginning(with_absolute_paths(std::move(config)), [](const std::filesystem::path& name) {
    try {
      return existing_run(name);
    } catch (const Error& error) {
      throw Error(fmt::format("{}; a run that has begun with it goes on by itself: eggroll resume", error.what()));
    }
  });
  return train_in(config, run_folder_of, registry_of(config), Invocation{overrides, command_line, std::nullopt},
                  show_monitor);
}

namespace {

int run_command(const CommandLine& line, const Overrides& overrides, bool show_monitor) {
  const ConfigSearch search = config_search(line.host);
  require_one_value_each(search, overrides, "add --multirun to run each, or ");
  return begin_run(compose(search, overrides), overrides, line.typed, show_monitor, find_plugins);
}

struct ResumeArguments {
  fs::path run;
  std::vector<fs::path> plugins;  // folders that find_plugins_of_run() may search
  fs::path only_plugins;          // the only folder to take plugins from; empty: see above
  bool hook = false;              // start the program that the run's eval.hook names
  MovedData data;
  bool show_monitor = false;
};

// The user decides which program is started, not the run's folder.
void require_hook_allowed(const ConfigNode& config, const RunFolder& folder) {
  if (!names_hook(config)) return;
  constexpr size_t kShown = 300;  // bytes
  throw Error(
      fmt::format("{} names a program to start, eval.hook: {}, and resume starts only what you allow; look at it, and "
                  "give --hook to start it",
                  folder.config().string(), one_line(to_line(config.at("eval.hook")), kShown)));
}

int resume_command(const CommandLine& line, const ResumeArguments& arguments) {
  const RunFolder folder = existing_run(arguments.run);
  Invocation invocation;
  if (const std::optional<PointFile> point = read_point(folder.path)) {
    invocation.overrides = point->overrides;
    invocation.sweep = point->sweep;
  } else if (is_there(folder.record())) {
    invocation.overrides = read_record(folder.record()).overrides;
  }
  invocation.command_line = line.typed;
  ConfigNode config = with_data(run_config(folder), arguments.data);
  if (!arguments.hook) require_hook_allowed(config, folder);
  for (const std::string& key : kRunFiles) require_file(config, key);
  if (arguments.show_monitor) config = with_monitor(std::move(config));
  const fs::path& alone = arguments.only_plugins;
  const Registry registry =
      alone.empty() ? find_plugins_of_run(config, arguments.plugins)
                    : Registry({{fs::absolute(alone), "--only-plugins"}}, kPluginTimeLimit, kCureOfOnlyFolder);
  const auto folder_of = [&](const ConfigNode&) { return folder.path; };
  return train_in(config, folder_of, registry, invocation, arguments.show_monitor);
}

}  // namespace

void commands::declare_run(CommandLine& line) {
  static Overrides overrides;
  static bool show_monitor = false;
  static bool multirun = false;
  CLI::App* command = line.add_composing("run", "Train, or continue the same run: eggroll run experiment=count seed=1",
                                         overrides, [&line] {
                                           return multirun ? multirun_command(line.host, overrides, show_monitor)
                                                           : run_command(line, overrides, show_monitor);
                                         });
  add_monitor(command, show_monitor);
  command->add_flag("-m,--multirun", multirun,
                    "Run every combination of values: seed=0,1,2 model=glob(*) train.tokens=range(16,64,16)");
}

void commands::declare_resume(CommandLine& line) {
  static ResumeArguments arguments;
  CLI::App* command =
      line.add("resume", "Continue an interrupted run", [&line] { return resume_command(line, arguments); });
  line.takes_run(command, arguments.run);
  CLI::Option* plugins = add_plugins(command, arguments.plugins);
  command->add_option("--only-plugins", arguments.only_plugins, "Take plugins from this folder only")
      ->excludes(plugins);
  command->add_flag("--hook", arguments.hook, "Start the program that the run's own eval.hook names");
  command->add_option("--data", arguments.data.path,
                      "Where the file of dataset.path lies now; it must hold what the run began with");
  command->add_option("--valid-data", arguments.data.valid_path, "The same for dataset.valid_path");
  command->add_option("--vocabulary", arguments.data.vocabulary, "The same for dataset.vocabulary");
  add_monitor(command, arguments.show_monitor);
}

}  // namespace eggroll
