// eggroll eval.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <map>
#include <optional>

#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "cli/trained.h"
#include "data/baselines.h"
#include "data/text_figures.h"
#include "eggroll/error.h"
#include "record/environment.h"
#include "record/record_fields.h"
#include "record/seal.h"
#include "record/sentence.h"
#include "system/background.h"
#include "system/files.h"
#include "train/checkpoint.h"
#include "train/evaluation.h"
#include "train/identity.h"
#include "train/kept_checkpoints.h"
#include "train/session_io.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int kEvaluationSchema = 1;  // of the records in a run's evaluations/

struct EvalArguments {
  fs::path run;
  std::vector<fs::path> plugins;
  std::string text;                 // the file or pattern to evaluate on; empty: the run's held-out part
  bool test = false;                // or its test split
  std::string checkpoint = "end";   // see choose_checkpoint()
  std::string weights = "weights";  // or "average"
  bool json = false;
  MovedData data{{}, {}, {}, "--train-data"};
};

// The data that are measured in place of the run's held-out part; text is empty if it is that part.
struct Measured {
  std::string split;   // "held_out", "test" or "other"
  std::string text;    // a file or a pattern
  std::string option;  // as it was typed
};

Measured measured_by(const EvalArguments& arguments, const ConfigNode& config, const RunFolder& folder) {
  if (!arguments.test && arguments.text.empty()) return {"held_out", "", ""};
  if (arguments.test && !arguments.text.empty()) {
    throw Error("--test and --data were given, expected one of them; leave one out");
  }
  const char* option = arguments.test ? "--test" : "--data";
  if (config.find("dataset.valid_path") == nullptr) {
    throw Error(fmt::format("{0} was given, and the run's dataset '{1}' reads no file; leave {0} out", option,
                            config.at("dataset.name").text()));
  }
  if (!arguments.test) return {"other", arguments.text, "--data " + arguments.text};
  const ConfigNode* path = config.find("dataset.test_path");
  if (path != nullptr && path->kind() == ConfigNode::Kind::kText) return {"test", path->text(), option};
  throw Error(
      fmt::format("--test was given, and the run in {} has no test split (dataset.test_path); measure it on a "
                  "file of your own with --data FILE",
                  folder.path.string()));
}

void require_text(const Measured& measured, const std::string& path) {
  if (is_pattern(path)) return;  // opening the dataset says whether a file matches
  const bool is_test = measured.split == "test";
  const std::string named = fmt::format("{} is '{}'", is_test ? "dataset.test_path" : "--data", measured.text);
  const char* cure = is_test ? "restore it, or measure another file with --data FILE" : "name another";
  std::error_code failure;
  const fs::file_type type = fs::status(path, failure).type();
  if (type == fs::file_type::not_found) {
    throw Error(fmt::format("{}, which does not exist, expected a file that can be read; {}", named, cure));
  }
  if (!failure && (type != fs::file_type::regular || fs::file_size(path, failure) == 0)) {
    throw Error(fmt::format("{}, which is no file or empty, expected a file with at least 2 tokens; {}", named, cure));
  }
}

// The run's configuration, with the data to measure in place of its held-out part.
ConfigNode with_text(ConfigNode config, const Measured& measured) {
  const std::string path = absolute_path(measured.text);
  require_text(measured, path);
  *config.find("dataset.valid_path") = ConfigNode(path, Source{fmt::format("command line '{}'", measured.option), 0});
  if (ConfigNode* test = config.find("dataset.test_path")) *test = ConfigNode();
  return config;
}

// What is wrong with the text, by the name that the user knows it by: the run's configuration says nothing of it.
Error in_words_of(const Measured& measured, const Error& error) {
  const std::string key = "dataset.valid_path";
  std::string text = error.what();
  const size_t begin = text.find(key + " is ");
  if (begin == std::string::npos) return error;
  const std::string name = measured.split == "test" ? "dataset.test_path" : "--data";
  text = name + text.substr(begin + key.size());
  const std::string cure = fmt::format("set {}=FILE", key);
  if (const size_t at = text.find(cure); at != std::string::npos) text.replace(at, cure.size(), "name another");
  return Error(text, error.code(), error.key());
}

Dataset open_text(const ConfigNode& config, const Measured& measured) try {
  return open_dataset_of(with_text(config, measured));
} catch (const Error& error) {
  throw in_words_of(measured, error);
}

// The run's own data, and what is measured in place of what it holds out. sha256 stays that of the run's own.
Dataset open_measured(const ConfigNode& config, const Measured& measured) {
  Dataset dataset = open_dataset_of(config);
  if (measured.text.empty()) return dataset;
  const Dataset other = open_text(config, measured);
  dataset.valid = other.valid;
  dataset.vocab_needed = std::max(dataset.vocab_needed, other.vocab_needed);
  return dataset;
}

void require_own_data(const Setup& setup, const RunFolder& folder, const Trained& trained) {
  if (trained.data_sha256 == setup.dataset.sha256) return;
  throw Error(fmt::format(
      "the data are not those of the run in {} (sha256 {}, expected {}); restore them, or say where they are "
      "now with --train-data, --valid-data and --vocabulary",
      folder.path.string(), setup.dataset.sha256, trained.data_sha256));
}

// Facts about the data that are found while the model is evaluated.
struct DataFigures {
  BaselineRecord baselines;
  std::map<uint32_t, double> overlap;
};

DataFigures measure_data(const Dataset& dataset) {
  const Baselines simple = measure_baselines(dataset);
  DataFigures found{{simple.unigram, simple.bigram, simple.gzip}, {}};
  if (!has_text_figures(dataset)) return found;
  const std::atomic<bool> stop{false};
  const std::optional<TextFigures> text = measure_text(dataset, stop);
  found.baselines.xz = text->xz;
  found.baselines.ppmd = text->ppmd;
  found.baselines.kneser_ney = text->kneser_ney;
  found.overlap = text->overlap;
  return found;
}

// A file's name need not be UTF-8, as JSON must be.
std::string as_utf8(const std::string& name) {
  return ordered_json::parse(ordered_json(name).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

ordered_json record_of(const EvalArguments& arguments, const Measured& measured, const RunFolder& folder,
                       const Setup& setup, Trained& trained, const HeldOutSums& sums, const DataFigures& figures) {
  const Environment environment = capture_environment();
  return {{"schema", kEvaluationSchema},
          {"run", as_utf8(fs::canonical(folder.path).filename().string())},
          {"step", trained.step},
          {"weights", arguments.weights},
          {"weights_sha256", weights_sha256(read_weights(trained.session, *setup.learner.program))},
          {"split", measured.split},
          {"data",
           {{"file", measured.text.empty() ? ordered_json() : ordered_json(as_utf8(measured.text))},
            {"sha256", setup.dataset.held_out_sha256()},
            {"unit", setup.dataset.unit}}},
          {"tokens", sums.scored.tokens},
          {"units", sums.scored.units},
          {"loss_q16", sums.loss_q16},
          {"bits_per_unit", sums.bits_per_unit()},
          {"baselines", field_json(figures.baselines, "baselines")},
          {"overlap", field_json(ByBytes{figures.overlap}, "overlap")},
          {"streams", setup.final_streams.streams()},
          {"warmup", setup.eval.warmup},
          {"backend", setup.learner.backend->who()},
          {"host_version", environment.host_version},
          {"host_commit", environment.host_commit},
          {"evaluated_utc", utc_now()}};
}

fs::path evaluations_of(const RunFolder& folder) { return own_folder(folder.path / "evaluations"); }

// Its name has the checkpoint, the text, the weights and the split: the same evaluation takes the place of its record.
fs::path record_path(const RunFolder& folder, const ordered_json& record) {
  const auto step = record.at("step").get<uint64_t>();
  const bool average = record.at("weights") == "average";
  const std::string text = record.at("data").at("sha256").get<std::string>().substr(0, 12);
  return evaluations_of(folder) / fmt::format("step-{:08}-{}{}{}.json", step, text, average ? "-average" : "",
                                              record.at("split") == "test" ? "-test" : "");
}

void print(const EvalArguments& arguments, const Measured& measured, const Setup& setup, const ordered_json& record,
           const DataFigures& figures) {
  const std::string unit = setup.dataset.unit;
  const std::string of_test = measured.split == "test" ? "the test split " : "";
  say_line(fmt::format(
      "{:.4f} bits per {} on {} ({} tokens), {} after {} steps", record.at("bits_per_unit").get<double>(), unit,
      measured.text.empty() ? "the run's held-out part" : of_test + measured.text, record.at("tokens").get<uint64_t>(),
      arguments.weights == "average" ? "average of the weights" : "weights", record.at("step").get<uint64_t>()));
  say_line(baselines_line(figures.baselines));
}

// The file has a name of its own until it is whole, because another process may write the same record.
void write_evaluation(const fs::path& path, const ordered_json& record) {
  create_folders(path.parent_path());
  const fs::path own = fmt::format("{}.{}", path.string(), ::getpid());
  write_atomically(own, record.dump(2) + "\n");
  std::error_code failure;
  fs::rename(own, path, failure);
  if (failure) throw file_error("write", path, failure.value());
  sync_folder(path.parent_path());
}

int eval_command(const EvalArguments& arguments) {
  const RunFolder folder = existing_run(arguments.run);
  const ConfigNode config = with_data(run_config(folder), arguments.data);
  for (const std::string& key : kRunFiles) require_file(config, key, arguments.data);
  // Before the work.
  choose_checkpoint(folder, arguments.checkpoint, "--checkpoint is");
  evaluations_of(folder);
  const Measured measured = measured_by(arguments, config, folder);
  if (!measured.text.empty()) with_text(config, measured);
  const Registry registry = find_plugins_of_run(config, arguments.plugins);
  const Setup setup(config, registry, [&](const ConfigNode& of) { return open_measured(of, measured); });
  Trained trained = open_trained(setup.learner, config, folder, arguments.checkpoint, arguments.weights);
  require_own_data(setup, folder, trained);
  std::future<DataFigures> measured_data = beside([&] { return measure_data(setup.dataset); });
  const HeldOutStreams& streams = setup.final_streams;
  const HeldOutSums sums = HeldOutEvaluator(trained.session, setup.dataset, setup.learner.program->state_bytes())
                               .run(streams, 0, streams.streams());
  const DataFigures figures = measured_data.get();
  const ordered_json record = sealed(record_of(arguments, measured, folder, setup, trained, sums, figures));
  const fs::path path = record_path(folder, record);
  if (arguments.json) {
    print_json(record);
  } else {
    print(arguments, measured, setup, record, figures);
  }
  if (const auto caution = overlap_caution(figures.overlap)) print_error("eggroll", *caution);
  // The record comes after the result, which is of use even if the run's folder cannot be written to.
  write_evaluation(path, record);
  if (!arguments.json) say_line("record " + path.string());
  return 0;
}

}  // namespace

void commands::declare_eval(CommandLine& line) {
  static EvalArguments arguments;
  CLI::App* command =
      line.add("eval", "Measure a run's model on its held-out data or on another text, beside unigram, bigram and gzip",
               [] { return eval_command(arguments); });
  const auto is_named = [](const std::string& text) { return text.empty() ? "it is empty, expected a file" : ""; };
  line.takes_run(command, arguments.run);
  add_plugins(command, arguments.plugins);
  command
      ->add_option("--data", arguments.text,
                   "The file to measure on, or a pattern of files, of the run's kind (default: what the run holds out)")
      ->check(is_named);
  command->add_flag("--test", arguments.test, "Measure on the run's test split, dataset.test_path");
  line.takes_checkpoint(command, arguments.checkpoint, arguments.weights);
  command->add_flag("--json", arguments.json, "Print the record in place of sentences");
  command
      ->add_option("--train-data", arguments.data.path,
                   "Where the file of dataset.path lies now; unigram and bigram count it")
      ->check(is_named);
  command->add_option("--valid-data", arguments.data.valid_path, "Where the file of dataset.valid_path lies now")
      ->check(is_named);
  command->add_option("--vocabulary", arguments.data.vocabulary, "The same for dataset.vocabulary")->check(is_named);
}

}  // namespace eggroll
