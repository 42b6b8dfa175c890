// eggroll run, eggroll resume.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/commands.h"
#include "config/hash.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "experiment/sweep.h"
#include "monitor/display.h"
#include "record/files.h"
#include "record/run_lock.h"
#include "train/trainer.h"
#include "train/weights.h"

namespace eggroll {
namespace fs = std::filesystem;
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int> stop_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// The first signal lets the step finish; a second one ends the process.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    stop_signal.store(number);
    stop_requested.store(true);
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

// One line, rewritten on a terminal; elsewhere a new line every few seconds.
class ProgressLine {
 public:
  void operator()(const Progress& p) {
    const auto now = std::chrono::steady_clock::now();
    const bool last = p.step == p.steps;
    if (!last && now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(3000))) return;
    shown_ = now;
    const std::string held_out = p.held_out_bits ? fmt::format("{:.4f}", *p.held_out_bits) : "-";
    const std::string line =
        fmt::format("step {}/{}  loss {:.4f}  held-out {} bits per {}  {:.0f} member tokens/s  {} left", p.step,
                    p.steps, p.train_bits, held_out, p.unit, p.member_tokens_per_second, duration_text(p.seconds_left));
    if (terminal_) {
      fmt::print("\r\033[K{}{}", line, last ? "\n" : "");
    } else {
      fmt::print("{}\n", line);
    }
    std::fflush(stdout);
  }
  // Prints lines in its place; the next progress follows below.
  void print_above(const std::string& lines) const {
    fmt::print("{}{}", terminal_ ? "\r\033[K" : "", lines);
    std::fflush(stdout);
  }
  // Ends a line that a terminal still shows.
  void finish() const {
    if (terminal_) fmt::print("\n");
  }
  // NO_COLOR: no-color.org.
  bool takes_colour() const {
    const char* no_colour = std::getenv("NO_COLOR");
    return terminal_ && (no_colour == nullptr || *no_colour == '\0');
  }

 private:
  bool terminal_ = isatty(STDOUT_FILENO) != 0;
  std::chrono::steady_clock::time_point shown_{};
};

void print_summary(const RunRecord& record, const RunFolder& folder) {
  const auto bits = [](const std::optional<double>& value) { return value ? fmt::format("{:.3f}", *value) : "-"; };
  if (record.final) {
    fmt::print("held-out {:.4f} bits per {} after {} steps ({} tokens, unperturbed)\n", record.final->bits_per_unit,
               record.final->unit, record.final->step, record.final->tokens);
  }
  if (record.stopped_because) fmt::print("stopped: {}\n", *record.stopped_because);
  fmt::print("on the same data: unigram {}, bigram {}, gzip {}\n", bits(record.baselines.unigram),
             bits(record.baselines.bigram), bits(record.baselines.gzip));
  if (record.dataset && record.dataset->facts.contains("entropy_rate_bits")) {
    fmt::print("entropy rate of the source: {:.4f}\n", record.dataset->facts.at("entropy_rate_bits").get<double>());
  }
  fmt::print("{} member tokens ({} unique) in {}\n", record.member_tokens, record.unique_tokens,
             duration_text(record.wall_seconds));
  if (record.weights_sha256) fmt::print("weights sha256 {}\n", *record.weights_sha256);
  fmt::print("record {}\n", folder.record().string());
  if (record.curve_file) fmt::print("curve  {}\n", folder.curve().string());
  if (record.samples_file) fmt::print("sample {}\n", folder.samples().string());
}

// Exit code of a process that a signal ended, as shells count.
int interrupted(const RunRecord& record, const RunFolder& folder) {
  fmt::print("interrupted after {} of {} steps, saved; go on with: eggroll resume {}\n", record.steps,
             record.config.at("train").at("steps").get<uint64_t>(), folder.path.string());
  return 128 + stop_signal.load();
}

// Whether the folder holds this run's finished record, which is then shown instead of run again.
bool already_done(const RunFolder& folder, const ConfigNode& config) {
  if (!fs::exists(folder.record())) return false;
  const RunRecord record = read_record(folder.record());
  const bool stopped = record.status == RunStatus::kStopped && record.config.at("stop") == to_json(config.at("stop"));
  if (record.status != RunStatus::kCompleted && !stopped) return false;
  fmt::print("this run is finished already; remove {} to run it again\n", folder.path.string());
  print_summary(record, folder);
  return true;
}

// The same where monitor.every is not 0; else with a look at every evaluation.
ConfigNode with_monitor(ConfigNode config) {
  if (config.at("monitor.every").integer() == 0) {
    *config.find("monitor.every") = ConfigNode(config.at("eval.every").integer(), Source{"command line '--monitor'"});
  }
  return config;
}

int train_in(const ConfigNode& config, const RunFolder& folder, const Registry& registry, const Invocation& invocation,
             bool show_monitor) {
  Setup setup(config, registry);
  require_same_data(setup, folder);
  if (already_done(folder, config)) return 0;
  const ChosenPlugin& backend = setup.machine.plugins.back();
  fmt::print("backend {}: {}\n", backend.file.name, backend.reason);
  std::error_code error;
  fs::create_directories(folder.path, error);
  if (error) throw file_error("create the folder", folder.path, error.value());
  const RunLock lock(folder.path);
  write_atomically(folder.config(), to_yaml(config));

  catch_signals();
  ProgressLine progress;
  TrainHooks hooks;
  hooks.planned = [&](const SessionPlan& plan) {
    fmt::print("{} on {}: {}; {} of memory\n", backend.file.name, plan.device, plan.plan, memory_text(plan.memory));
    std::fflush(stdout);
  };
  hooks.progress = std::ref(progress);
  if (show_monitor) {
    hooks.monitored = [&](const MonitorReport& report) {
      progress.print_above(monitor_table(report, progress.takes_colour()));
    };
  }
  hooks.warn = [](const std::string& text) { fmt::print(stderr, "eggroll: {}\n", text); };
  hooks.stop = &stop_requested;
  fmt::print("run folder {}\n", folder.path.string());
  std::fflush(stdout);
  const RunRecord record = train(setup, config, folder, invocation, hooks);
  if (record.status == RunStatus::kInterrupted) {
    progress.finish();
    return interrupted(record, folder);
  }
  print_summary(record, folder);
  return 0;
}

}  // namespace

int run_command(const HostOptions& host, const Overrides& overrides, const std::vector<std::string>& command_line,
                bool show_monitor) {
  ConfigNode config = compose(config_search(host), overrides);
  if (config.find("sweep") != nullptr) {
    throw wrong(
        config.at("sweep").source(),
        "the experiment is a sweep; run it with eggroll sweep, or one run of it with ~sweep and what it varies");
  }
  if (show_monitor) config = with_monitor(std::move(config));
  const RunFolder folder{fs::path(config.at("results.dir").text()) /
                         fmt::format("{}-{}", config.at("name").text(), run_hash(config).substr(0, 12))};
  return train_in(config, folder, find_plugins(config), Invocation{overrides, command_line, std::nullopt},
                  show_monitor);
}

int resume_command(const fs::path& run, const fs::path& plugins, const std::vector<std::string>& command_line,
                   bool show_monitor) {
  const RunFolder folder = existing_run(run);
  Invocation invocation;
  if (const std::optional<PointFile> point = read_point(run)) {
    invocation.overrides = point->overrides;
    invocation.sweep = point->sweep;
  } else if (fs::exists(folder.record())) {
    invocation.overrides = read_record(folder.record()).overrides;
  }
  invocation.command_line = command_line;
  ConfigNode config = run_config(folder);
  if (show_monitor) config = with_monitor(std::move(config));
  const Registry registry = plugins.empty() ? find_plugins(config) : Registry({{fs::absolute(plugins), "--plugins"}});
  return train_in(config, folder, registry, invocation, show_monitor);
}

}  // namespace eggroll
