// eggroll replay, eggroll sample.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <optional>

#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "cli/trained.h"
#include "data/vocabulary.h"
#include "eggroll/error.h"
#include "record/record.h"
#include "system/text.h"
#include "train/checkpoint.h"
#include "train/identity.h"
#include "train/kept_checkpoints.h"
#include "train/replay.h"
#include "train/sample.h"

namespace eggroll {
namespace fs = std::filesystem;
namespace {

// Reads token numbers with commas between.
std::vector<uint32_t> parse_numbers(const std::string& text) {
  std::vector<uint32_t> tokens;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string number = text.substr(begin, end - begin);
    if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos) {
      throw Error(
          fmt::format("the prompt holds '{}', expected token numbers with commas between, such as 3,14,15", number));
    }
    tokens.push_back(static_cast<uint32_t>(std::stoul(number)));
    begin = end + 1;
  }
  return tokens;
}

// The bytes of each of the run's tokens, if its dataset knows them.
std::optional<Vocabulary> vocabulary_of(const ConfigNode& config, const RunFolder& folder) {
  if (config.at("dataset.name").text() == "text") return Vocabulary::of_bytes();
  const ConfigNode* file = config.find("dataset.vocabulary");
  if (file == nullptr || file->kind() == ConfigNode::Kind::kNull) return std::nullopt;
  Vocabulary vocabulary(NamedFile{"vocabulary", file->text()});
  const RunRecord record = read_record(folder.record());
  const std::string expected = record.dataset ? record.dataset->facts.value("vocabulary_sha256", "") : "";
  if (vocabulary.sha256() != expected) {
    throw Error(fmt::format("the vocabulary '{}' has changed since the run in {} (sha256 {}, then {}); restore it",
                            vocabulary.source(), folder.path.string(), vocabulary.sha256(), expected));
  }
  return vocabulary;
}

struct ReplayArguments {
  fs::path run;
  std::vector<fs::path> plugins;
  uint64_t steps = 0;  // 0: all
};

int replay_command(const ReplayArguments& arguments) {
  const RunFolder folder = existing_run(arguments.run);
  const ConfigNode config = with_data(run_config(folder), {});
  const Registry registry = find_plugins_of_run(config, arguments.plugins);
  const Learner learner(config, registry);
  const Replayed replayed = replay(learner, config, folder, arguments.steps);
  const std::string rebuilt = weights_sha256(replayed.weights);
  fmt::print("replayed {} steps\nweights sha256 {}\n", replayed.steps, rebuilt);
  const auto newest = latest_checkpoint(folder.path);
  if (!newest) return 0;
  const Checkpoint checkpoint = load_checkpoint(*newest);
  if (arguments.steps == 0 && checkpoint.step > replayed.steps) {
    throw Error(
        fmt::format("{} holds {} steps, and the checkpoint {} was made after {}: the journal is damaged; "
                    "restore it from a copy",
                    folder.journal().string(), replayed.steps, newest->string(), checkpoint.step));
  }
  if (checkpoint.step != replayed.steps) {
    fmt::print("the newest checkpoint is of step {}: not compared\n", checkpoint.step);
    return 0;
  }
  if (weights_sha256(checkpoint.weights) != rebuilt) {
    throw Error(
        fmt::format("the checkpoint {} holds other weights ({}) than its journal leads to; one of the two is damaged",
                    newest->string(), weights_sha256(checkpoint.weights)));
  }
  say_line("equal to the checkpoint " + newest->string());
  return 0;
}

struct SampleArguments {
  fs::path run;
  std::vector<fs::path> plugins;
  SampleOptions options;
  uint32_t samples = 1;
  bool json = false;
  std::string prompt;
  std::string checkpoint = "end";   // see choose_checkpoint()
  std::string weights = "weights";  // or "average"
  MovedData data;                   // only the vocabulary may be set
};

int sample_command(const SampleArguments& arguments) {
  SampleOptions options = arguments.options;
  const RunFolder folder = existing_run(arguments.run);
  const ConfigNode config = with_data(run_config(folder), arguments.data);
  require_file(config, "vocabulary");
  choose_checkpoint(folder, arguments.checkpoint, "--checkpoint is");  // before the work
  const Registry registry = find_plugins_of_run(config, arguments.plugins);
  const Learner learner(config, registry);
  Trained trained = open_trained(learner, config, folder, arguments.checkpoint, arguments.weights);

  const std::optional<Vocabulary> vocabulary = vocabulary_of(config, folder);
  const bool takes_text = vocabulary && vocabulary->spells_every_byte();
  const auto tokens_of = [&](const std::string& text) {
    return takes_text ? vocabulary->tokens_of(text) : parse_numbers(text);
  };
  const std::vector<uint32_t> given = tokens_of(arguments.prompt);
  const std::vector<uint32_t> prompt = given.empty() ? tokens_of(takes_text ? "\n" : "0") : given;
  const auto text_of = [&](const std::vector<uint32_t>& tokens) {
    if (vocabulary) return vocabulary->text(tokens);
    return fmt::format("{}", fmt::join(tokens, ","));
  };
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (options.number = 0; options.number < arguments.samples; ++options.number) {
    const std::vector<uint32_t> made = sample(trained.session, *learner.program, prompt, options);
    if (arguments.json) {
      list.push_back({{"number", options.number}, {"tokens", made}, {"text", text_of(made)}});
      continue;
    }
    std::vector<uint32_t> all = given;
    all.insert(all.end(), made.begin(), made.end());
    const std::string text = on_terminal() ? escaped(text_of(all)) : text_of(all);
    if (arguments.samples > 1) fmt::print("--- sample {} ---\n", options.number);
    std::fwrite(text.data(), 1, text.size(), stdout);
    fmt::print("\n");
  }
  if (arguments.json) {
    const nlohmann::ordered_json result = {{"step", trained.step},   {"weights", arguments.weights},
                                           {"seed", options.seed},   {"temperature", options.temperature},
                                           {"top_k", options.top_k}, {"top_p", options.top_p},
                                           {"prompt", prompt},       {"samples", list}};
    print_json(result);
  }
  return 0;
}

}  // namespace

void commands::declare_replay(CommandLine& line) {
  static ReplayArguments arguments;
  CLI::App* command = line.add("replay", "Rebuild a run's weights from its seed, journal and data, and compare",
                               [] { return replay_command(arguments); });
  line.takes_run(command, arguments.run);
  add_plugins(command, arguments.plugins);
  command->add_option("--steps", arguments.steps, "Number of steps of the journal to replay (default: all)")
      ->check(whole_number(1, uint64_t{1} << 40));
}

void commands::declare_sample(CommandLine& line) {
  static SampleArguments arguments;
  SampleOptions& options = arguments.options;
  CLI::App* command =
      line.add("sample",
               "Print text from the checkpoint that a run ended with, or another; a terminal shows control characters "
               "and broken UTF-8 as \\xNN, a file or a pipe gets the bytes themselves",
               [] { return sample_command(arguments); });
  line.takes_run(command, arguments.run);
  add_plugins(command, arguments.plugins);
  command->option_defaults()->always_capture_default();  // help shows them
  command->add_option("--count", options.count, "Tokens to make")->check(whole_number(1, 1000000));
  command
      ->add_option("--temperature", options.temperature,
                   "How random the choice of tokens is; 0 always takes the likeliest")
      ->check(real_number(0.0, 100.0));
  command->add_option("--top-k", options.top_k, "Choose from the likeliest tokens, this number of them; 0: from all")
      ->check(whole_number(0, 1000000000));
  command
      ->add_option("--top-p", options.top_p,
                   "Choose from the likeliest tokens that together have at least this probability")
      ->check(real_number(1e-9, 1.0));
  command->add_option("--samples", arguments.samples, "Number of texts to make")->check(whole_number(1, 10000));
  command->add_option("--seed", options.seed, "Seed of the random draws")->check(whole_number(0, UINT64_MAX));
  command->add_flag("--json", arguments.json, "Print tokens and text as JSON");
  command->add_option("--prompt", arguments.prompt,
                      "Text to continue; if tokens stand for no text, token numbers with commas between");
  line.takes_checkpoint(command, arguments.checkpoint, arguments.weights);
  command->add_option("--vocabulary", arguments.data.vocabulary,
                      "Where the file of dataset.vocabulary lies now; it must hold what the run began with");
}

}  // namespace eggroll
