// eggroll run, eggroll resume.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "cli/commands.h"
#include "config/hash.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "experiment/launcher.h"
#include "monitor/display.h"
#include "ranks/ranks.h"
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

// The first signal lets the step finish; a second Ctrl-C ends the process. SIGTERM may come from a batch system and
// from the sweep's runner, which has it from there: two of them still mean one wish.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    stop_signal.store(number);
    stop_requested.store(true);
  };
  sigaction(SIGTERM, &action, nullptr);
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
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
int interrupted(const RunRecord& record, uint64_t steps, const RunFolder& folder) {
  fmt::print("interrupted after {} of {} steps, saved; go on with: eggroll resume {}\n", record.steps, steps,
             folder.path.string());
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

// Ranks whose program, rule, data or settings differ would train different models.
void require_same_work(const Setup& setup, const ConfigNode& config, Ranks& ranks) {
  const RunIdentity identity = identity_of(setup.machine, config);
  const std::vector<std::pair<const char*, std::string>> facts = {{"specification", identity.spec_hash},
                                                                  {"program", identity.program_hash},
                                                                  {"rule", identity.rule_hash},
                                                                  {"dataset", setup.dataset.sha256}};
  for (const auto& [what, hash] : facts) {
    const std::vector<uint64_t> all = ranks.gather(uint64_t{std::stoull(hash.substr(0, 16), nullptr, 16)});
    for (size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank] == all[0]) continue;
      ranks.fail_together(fmt::format(
          "rank {} has another {} than rank 0 ({:016x}, {:016x}), expected the same build and files on all machines; "
          "install the same eggroll and the same data on both",
          rank, what, all[rank], all[0]));
    }
  }
}

int train_shared(const ConfigNode& config, const RunFolder& folder, const Registry& registry,
                 const Invocation& invocation, bool show_monitor, Ranks& ranks) {
  Setup setup(config, registry);
  require_same_work(setup, config, ranks);
  if (ranks.leads()) require_same_data(setup, folder);
  if (ranks.broadcast(ranks.leads() && already_done(folder, config))) return 0;
  const ChosenPlugin& backend = setup.machine.plugins.back();
  fmt::print("backend {}: {}\n", backend.file.name, backend.reason);
  std::optional<RunLock> lock;
  if (ranks.leads()) {
    std::error_code error;
    fs::create_directories(folder.path, error);
    if (error) throw file_error("create the folder", folder.path, error.value());
    lock.emplace(folder.path);
    write_atomically(folder.config(), to_yaml(config));
  }

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
  if (!ranks.alone()) fmt::print("{} ranks share the run's members\n", ranks.size());
  const RunRecord record = train(setup, config, folder, invocation, hooks, ranks);
  if (record.status == RunStatus::kInterrupted) {
    progress.finish();
    return interrupted(record, setup.machine.train.steps, folder);
  }
  if (ranks.leads()) print_summary(record, folder);
  return 0;
}

// Alone, or as one of the processes that a launcher started for this run. folder_of: the run's, of the configuration
// that all ranks share, which is rank 0's.
template <class FolderOf>
int train_in(const ConfigNode& own_config, FolderOf&& folder_of, const Registry& registry, const Invocation& invocation,
             bool show_monitor) {
  const std::optional<ChosenPlugin> network = choose_ranks(own_config, registry);
  Ranks ranks = network ? Ranks(*network) : Ranks();
  if (ranks.alone()) {
    return train_shared(own_config, RunFolder{folder_of(own_config)}, registry, invocation, show_monitor, ranks);
  }
  try {
    if (!ranks.leads() && std::freopen("/dev/null", "w", stdout) == nullptr)
      throw file_error("open", "/dev/null", errno);
    const ConfigNode config = parse_yaml(ranks.broadcast(to_yaml(own_config)), "the configuration of rank 0");
    const int result = train_shared(config, RunFolder{folder_of(config)}, registry, invocation, show_monitor, ranks);
    ranks.leave();
    return result;
  } catch (const std::exception& error) {
    // The others wait for this rank and would for ever.
    fmt::print(stderr, "eggroll: rank {} of {}: {}\n", ranks.rank(), ranks.size(), error.what());
    std::fflush(nullptr);
    ranks.abort(1);
    throw;
  }
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
  for (const std::string& text : overrides) {
    if (!is_of_launcher(text)) continue;
    throw Error(
        fmt::format("'{}' is for eggroll sweep, and eggroll run starts one run on this machine; leave it out", text));
  }
  erase_launcher(config);
  if (show_monitor) config = with_monitor(std::move(config));
  const auto folder_of = [](const ConfigNode& of) {
    return fs::path(of.at("results.dir").text()) /
           fmt::format("{}-{}", of.at("name").text(), run_hash(of).substr(0, 12));
  };
  return train_in(config, folder_of, find_plugins(config), Invocation{overrides, command_line, std::nullopt},
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
  const auto folder_of = [&](const ConfigNode&) { return folder.path; };
  return train_in(config, folder_of, registry, invocation, show_monitor);
}

}  // namespace eggroll
