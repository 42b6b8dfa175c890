// eggroll: the command line. Parses, calls one command, turns an Error into one sentence and a non-zero exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/misuse.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "eggroll/error.h"
#include "plugin/calls.h"
#include "record/environment.h"
#include "record/sentence.h"
#include "serve/command.h"
#include "system/files.h"
#include "system/machine.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr const char* kRunHelp =
    "The run: its folder, or the name of one below ./results or 4 digits of its hash (eggroll ls)";
constexpr const char* kResultsHelp =
    "A folder with runs at any depth, a record, the name of a sweep, or a run's name or 4 digits of its hash";

// CLI11 reads 010 as 8, takes what is too large for the largest number, and an empty word for 0.
std::function<std::string(const std::string&)> whole_number(uint64_t least, uint64_t most) {
  return [=](const std::string& text) {
    uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, number);
    const bool is_plain = status == std::errc() && stop == end && (text.size() == 1 || text[0] != '0');
    if (is_plain && number >= least && number <= most) return std::string();
    return fmt::format("it is '{}', expected a whole number from {} to {}", text, least, most);
  };
}
std::function<std::string(const std::string&)> real_number(double least, double most) {
  return [=](const std::string& text) {
    const std::optional<double> number = real_of(text);
    const bool is_there = number && *number >= least && *number <= most;
    return is_there ? std::string() : fmt::format("it is '{}', expected a number from {} to {}", text, least, most);
  };
}

int dispatch(int argc, char** argv) {
  std::vector<std::string> command_line(argv, argv + argc);
  command_line[0] = "eggroll";  // a record says the same wherever the executable lies
  CLI::App app{"Experiments with integer evolution strategies", "eggroll"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer("eggroll help COMMAND describes a command, eggroll keys lists groups, options and keys.");
  const auto version = [] {
    const Environment environment = capture_environment();
    return fmt::format("eggroll {} ({}), plugin ABI {}, spec {}", environment.host_version, environment.host_commit,
                       environment.abi, environment.spec_hash);
  };
  app.set_version_flag("-V,--version", version);
  HostOptions host;
  app.add_option("--config-dir", host.config_dirs, "A folder with config.yaml or with more options; may be repeated")
      ->allow_extra_args(false);
  int exit_code = 0;

  Overrides overrides;
  const auto with_overrides = [&](const char* name, const char* help, auto command) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->add_option("overrides", overrides, "group=option, a.b=value, +a.b=value, ++a.b=value, ~a.b");
    sub->fallthrough();
    sub->footer("eggroll keys lists groups, their options and all keys; eggroll keys optimizer those of one group.");
    sub->callback([&, command] { exit_code = command(); });
    return sub;
  };
  bool show_monitor = false;
  const auto with_monitor = [&](CLI::App* sub) {
    sub->add_flag("--monitor", show_monitor,
                  "Print what the monitor sees every monitor.every steps (every eval.every steps if that is 0)");
  };
  bool as_json = false;
  const auto with_json = [&](CLI::App* sub) { sub->add_flag("--json", as_json, "Print one JSON document"); };
  bool multirun = false;
  CLI::App* run_app =
      with_overrides("run", "Train, or continue the same run: eggroll run experiment=count seed=1", [&] {
        return multirun ? multirun_command(host, overrides, show_monitor)
                        : run_command(host, overrides, command_line, show_monitor);
      });
  with_monitor(run_app);
  run_app->add_flag("-m,--multirun", multirun,
                    "Run every combination of values: seed=0,1,2 model=glob(*) train.tokens=range(16,64,16)");
  with_overrides("show", "Print the model's program, the optimizer's rule and the bounds: eggroll show model=gru",
                 [&] { return show_command(host, overrides); });
  with_overrides("config", "Print the resolved configuration and where each value was written, and check it",
                 [&] { return config_command(host, overrides); });

  std::string key;
  CLI::App* keys = app.add_subcommand(
      "keys", "List groups and options, or the keys below one: eggroll keys optimizer, eggroll keys train");
  keys->add_option("key", key, "A group or a key; all groups if it is left out");
  keys->add_option("overrides", overrides, "What to choose first: model=int8nativeformer");
  with_json(keys);
  keys->fallthrough();
  keys->callback([&] { exit_code = keys_command(host, key, overrides, as_json); });
  std::string described;
  CLI::App* help = app.add_subcommand("help", "Describe a command: eggroll help run");
  help->add_option("command", described, "Its name; all commands if it is left out");
  std::string overview;
  help->callback(
      [&] { fmt::print("{}", described.empty() ? overview : command_named(app, described).help(app.get_name())); });

  std::string shell;
  CLI::App* completion = app.add_subcommand(
      "completion", "Print the script that completes command lines: source <(eggroll completion bash)");
  completion->add_option("shell", shell, "bash, zsh or fish")->required();
  completion->callback([&] { fmt::print("{}", completion_script(shell)); });
  CLI::App* manual = app.add_subcommand("man", "Print the manual page: eggroll man > eggroll.1");
  manual->callback([&] { fmt::print("{}", manual_page(app, version())); });

  with_json(with_overrides("points", "Check and list a sweep's points: eggroll points experiment=count-convergence",
                           [&] { return points_command(host, overrides, as_json); }));
  SweepArguments sweeping;
  CLI::App* sweep = with_overrides(
      "sweep", "Run the points of a sweep that are not done: eggroll sweep experiment=count-convergence --jobs 2",
      [&] { return sweep_command(host, overrides, sweeping); });
  CLI::Option* jobs = sweep
                          ->add_option("--jobs", sweeping.workers.jobs,
                                       "Number of points that run at once and share the cores (default: 1)")
                          ->check(CLI::Range(1, 4096));
  sweep->add_option("--workers", sweeping.workers.workers, "Where points run: \"cores=0-3 gpu=0;cores=4-7 gpu=1\"")
      ->excludes(jobs);
  sweep->add_flag("--retry-failed", sweeping.retry_failed, "Run failed points again, from their last checkpoint");
  CLI::Option* breaker =
      sweep->add_option("--breaker", sweeping.breaker, "End the sweep after this number of failures in a row")
          ->capture_default_str()
          ->check(CLI::Range(1, 1000000));
  CLI::Option* fail_fast = sweep->add_flag("--fail-fast", sweeping.fail_fast, "End the sweep at the first failure");
  sweep->add_flag("--keep-going", sweeping.keep_going, "Continue the sweep however many points fail")
      ->excludes(breaker)
      ->excludes(fail_fast);

  std::filesystem::path submission;
  uint64_t element = 0;
  std::string where = "a job";
  CLI::App* point =
      app.add_subcommand("point", "Run one point of a sweep that was submitted to a cluster; the jobs call this");
  point->add_option("submission", submission, "The folder, below a sweep's jobs")->required();
  point->add_option("element", element, "The point's number in it, from 0")->required();
  point->add_option("--where", where, "The name of this job in the point's log")->capture_default_str();
  point->callback([&] { exit_code = point_command(submission, element, where); });

  std::vector<std::string> listed;
  CLI::App* ls = app.add_subcommand("ls", "List runs, the newest first: eggroll ls status=failed model.width=64");
  ls->add_option("what", listed, "A folder, sweep or run (default: results), and key=value for each condition");
  with_json(ls);
  ls->callback([&] { exit_code = ls_command(listed, as_json); });

  std::vector<std::string> removed;
  bool force = false;
  CLI::App* rm = app.add_subcommand("rm", "Remove runs with all that is in their folders: eggroll rm RUN RUN");
  rm->add_option("runs", removed, kRunHelp)->required();
  rm->add_flag("--force", force, "Also those that a report, a sweep or another run refers to");
  rm->callback([&] { exit_code = rm_command(removed, force); });

  std::string labelled;
  std::vector<std::string> tags;
  bool removes_tags = false;
  CLI::App* tag =
      app.add_subcommand("tag", "Tag a run, or print its tags: eggroll tag RUN baseline; eggroll ls tag=baseline");
  tag->add_option("run", labelled, kRunHelp)->required();
  tag->add_option("tags", tags, "Tags to add; the run's are printed if there are none");
  tag->add_flag("--remove", removes_tags, "Take these tags away");
  tag->callback([&] { exit_code = tag_command(labelled, tags, removes_tags); });

  std::string note;  // newer versions of CLI11 leave a std::optional empty where the text is
  CLI::App* noted =
      app.add_subcommand("note", "Write a note to a run, or print it: eggroll note RUN 'diverged at 800'");
  noted->add_option("run", labelled, kRunHelp)->required();
  const CLI::Option* has_note = noted->add_option("text", note, "The note, which replaces the one before; '' for none");
  noted->callback([&, has_note] {
    exit_code = note_command(labelled, has_note->count() > 0 ? std::optional(note) : std::nullopt);
  });

  ResumeArguments resuming;
  CLI::App* resume = app.add_subcommand("resume", "Continue an interrupted run");
  resume->add_option("run", resuming.run, kRunHelp)->required();
  const auto with_plugins = [](CLI::App* sub, std::vector<std::filesystem::path>& plugins) {
    return sub
        ->add_option("--plugins", plugins,
                     "Also take plugins from this folder, because the run's own plugins.path is not followed; may be "
                     "repeated")
        ->allow_extra_args(false);
  };
  CLI::Option* resume_plugins = with_plugins(resume, resuming.plugins);
  resume->add_option("--only-plugins", resuming.only_plugins, "Take plugins from this folder only")
      ->excludes(resume_plugins);
  resume->add_flag("--hook", resuming.hook, "Start the program that the run's own eval.hook names");
  resume->add_option("--data", resuming.data.path,
                     "Where the file of dataset.path lies now; it must hold what the run began with");
  resume->add_option("--valid-data", resuming.data.valid_path, "The same for dataset.valid_path");
  resume->add_option("--vocabulary", resuming.data.vocabulary, "The same for dataset.vocabulary");
  with_monitor(resume);
  resume->callback([&] { exit_code = resume_command(resuming, command_line, show_monitor); });

  ForkArguments forking;
  CLI::App* fork = app.add_subcommand(
      "fork",
      "Go on from a run's checkpoint under other settings, as a run of its own: eggroll fork RUN@800 train.steps=2000");
  fork->add_option(
          "run", forking.from,
          fmt::format("{}; RUN@last, RUN@best or RUN@STEP unless the checkpoint that it ended with is meant", kRunHelp))
      ->required();
  fork->add_option("overrides", overrides, "What to change: train.steps=2000 optimizer=es_adamw");
  with_plugins(fork, forking.plugins);
  fork->fallthrough();
  with_monitor(fork);
  fork->callback([&] { exit_code = fork_command(host, forking, overrides, command_line, show_monitor); });

  ReplayArguments replaying;
  CLI::App* replay =
      app.add_subcommand("replay", "Rebuild a run's weights from its seed, journal and data, and compare");
  replay->add_option("run", replaying.run, kRunHelp)->required();
  with_plugins(replay, replaying.plugins);
  replay->add_option("--steps", replaying.steps, "Number of steps of the journal to replay (default: all)")
      ->check(whole_number(1, uint64_t{1} << 40));
  replay->callback([&] { exit_code = replay_command(replaying); });

  EvalArguments evaluating;
  CLI::App* eval = app.add_subcommand(
      "eval", "Measure a run's model on its held-out data or on another text, beside unigram, bigram and gzip");
  eval->add_option("run", evaluating.run, kRunHelp)->required();
  with_plugins(eval, evaluating.plugins);
  const auto is_named = [](const std::string& text) { return text.empty() ? "it is empty, expected a file" : ""; };
  eval->add_option("--data", evaluating.text,
                   "The file to measure on, or a pattern of files, of the run's kind (default: what the run holds out)")
      ->check(is_named);
  eval->add_flag("--test", evaluating.test, "Measure on the run's test split, dataset.test_path");
  const auto with_checkpoint = [](CLI::App* sub, std::string& checkpoint, std::string& weights) {
    sub->add_option(
           "--checkpoint", checkpoint,
           "end (that the run ended with; the newest of one that has not ended), last (the newest), best (by its "
           "held-out evaluation), or the number of steps of a checkpoint that the run keeps")
        ->capture_default_str();
    sub->add_option("--weights", weights,
                    "What to take: the run's weights, or their average, which a run with optimizer.average keeps")
        ->capture_default_str()
        ->check(CLI::IsMember({"weights", "average"}));
  };
  with_checkpoint(eval, evaluating.checkpoint, evaluating.weights);
  eval->add_flag("--json", evaluating.json, "Print the record in place of sentences");
  eval->add_option("--train-data", evaluating.data.path,
                   "Where the file of dataset.path lies now; unigram and bigram count it")
      ->check(is_named);
  eval->add_option("--valid-data", evaluating.data.valid_path, "Where the file of dataset.valid_path lies now")
      ->check(is_named);
  eval->add_option("--vocabulary", evaluating.data.vocabulary, "The same for dataset.vocabulary")->check(is_named);
  eval->callback([&] { exit_code = eval_command(evaluating); });

  SampleArguments sampling;
  CLI::App* sample =
      app.add_subcommand("sample",
                         "Print text from the checkpoint that a run ended with, or another; a terminal shows "
                         "control characters and broken UTF-8 as \\xNN, "
                         "a file or a pipe gets the bytes themselves");
  sample->add_option("run", sampling.run, kRunHelp)->required();
  with_plugins(sample, sampling.plugins);
  sample->add_option("--count", sampling.options.count, "Tokens to make")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  sample
      ->add_option("--temperature", sampling.options.temperature,
                   "How random the choice of tokens is; 0 always takes the likeliest")
      ->capture_default_str()
      ->check(real_number(0.0, 100.0));
  sample
      ->add_option("--top-k", sampling.options.top_k,
                   "Choose from the likeliest tokens, this number of them; 0: from all")
      ->capture_default_str()
      ->check(whole_number(0, 1000000000));
  sample
      ->add_option("--top-p", sampling.options.top_p,
                   "Choose from the likeliest tokens that together have at least this probability")
      ->capture_default_str()
      ->check(real_number(1e-9, 1.0));
  sample->add_option("--samples", sampling.samples, "Number of texts to make")
      ->capture_default_str()
      ->check(whole_number(1, 10000));
  sample->add_option("--seed", sampling.options.seed, "Seed of the random draws")
      ->capture_default_str()
      ->check(whole_number(0, UINT64_MAX));
  sample->add_flag("--json", sampling.json, "Print tokens and text as JSON");
  sample->add_option("--prompt", sampling.prompt,
                     "Text to continue; if tokens stand for no text, token numbers with commas between");
  with_checkpoint(sample, sampling.checkpoint, sampling.weights);
  sample->add_option("--vocabulary", sampling.data.vocabulary,
                     "Where the file of dataset.vocabulary lies now; it must hold what the run began with");
  sample->callback([&] { exit_code = sample_command(sampling); });

  std::filesystem::path served;
  uint16_t port = kServePort;
  CLI::App* serve = app.add_subcommand("serve", "Show the runs of a results folder in the browser, live");
  serve->add_option("results", served, "A folder with runs at any depth, or the name of a sweep")->required();
  serve->add_option("--port", port, "The port on 127.0.0.1; 0 takes a free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  serve->callback([&] { exit_code = serve_command(existing_results(served), port); });

  CLI::App* plugins = app.add_subcommand("plugins", "List every plugin file seen, its verdict and the reason");
  with_json(plugins);
  plugins->callback([&] { exit_code = plugins_command(host, as_json); });

  CheckArguments checking;
  CLI::App* check = app.add_subcommand("check", "Run the conformance cases on a plugin");
  check
      ->add_option("plugin", checking.plugin,
                   "A file, or a name (reference, model:gru), also of a file here or in build")
      ->required();
  check->add_option("--seed", checking.seed, "Run only random cases of a backend, the first with this seed")
      ->check(whole_number(0, UINT64_MAX));
  check->add_option("--cases", checking.cases, "Run only random cases of a backend, this number of them")
      ->check(whole_number(1, uint64_t{1} << 40));
  check->fallthrough();
  check->callback([&] { exit_code = check_command(host, checking); });

  std::string kind;
  std::string name;
  std::filesystem::path destination;
  CLI::App* fresh = app.add_subcommand("new", "Start a plugin of your own from a template");
  fresh->add_option("kind", kind, "backend, model or optimizer; other kinds have no template")->required();
  fresh->add_option("name", name, "Its name, lower_snake")->required();
  fresh->add_option("--into", destination, "The folder to create (default: ./NAME)");
  fresh->callback(
      [&] { exit_code = new_command(kind, name, destination.empty() ? std::filesystem::path(name) : destination); });

  std::filesystem::path results;
  std::filesystem::path out;
  CLI::App* report = app.add_subcommand("report", "Write findings, figures and tables from the records of runs");
  report->add_option("results", results, kResultsHelp)->required();
  report->add_option("--out", out, "The folder to write (default: RESULTS/report; RESULTS where it has a findings.md)");
  report->callback([&] { exit_code = report_command(results, out); });

  std::filesystem::path other;
  CLI::App* compared = app.add_subcommand("compare", "Say what differs between two runs, or two sweeps");
  compared->add_option("a", results, kResultsHelp)->required();
  compared->add_option("b", other, "What to compare it with")->required();
  with_json(compared);
  compared->callback([&] { exit_code = compare_command(results, other, as_json); });

  std::filesystem::path csv;
  std::filesystem::path tensorboard;
  CLI::App* exported = app.add_subcommand("export", "Write all metrics in the formats of other programs");
  exported->add_option("results", results, kResultsHelp)->required();
  exported->add_option("--csv", csv, "A file with a row for each line, as pandas reads it");
  exported->add_option("--tensorboard", tensorboard, "A folder of event files, one for each run");
  exported->callback([&] { exit_code = export_command(results, csv, tensorboard); });

  // The scripts of shells call this. Its words are no command line yet.
  if (argc > 1 && command_line[1] == "complete") {
    print_completions(app, {command_line.begin() + 2, command_line.end()});
    return 0;
  }
  overview = app.help();  // before a command is parsed, which app.help() would describe
  if (argc == 1) {
    fmt::print("{}", overview);
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    throw misused(app, error, command_line);
  }
  return exit_code;
}

}  // namespace
}  // namespace eggroll

int main(int argc, char** argv) {
  const eggroll::PluginGuard guard;
  eggroll::open_standard_descriptors();
  // A file that reaches its size limit is an error to report; the signal would end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // A parent may have it ignored, and then no child could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    try {
      eggroll::watch_parent();  // if this is a point of a sweep, it ends with the sweep
      const int exit_code = eggroll::dispatch(argc, argv);
      // The terminal has closed, or what read from the pipe has ended.
      const bool has_gone = exit_code == 128 + SIGHUP || eggroll::reader_has_gone();
      if (!has_gone && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
        throw eggroll::Error("the output could not be written; free space there or send it elsewhere");
      }
      return exit_code;
    } catch (...) {
      std::fflush(stdout);
      eggroll::print_error("eggroll", eggroll::sentence_of_exception());
    }
  } catch (...) {
    std::fputs("eggroll: the memory is used up; raise the limit (ulimit -v)\n", stderr);  // no sentence could be made
  }
  return 1;
}
