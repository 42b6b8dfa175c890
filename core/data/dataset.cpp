// Opens the datasets that come from files, and dispatches to those that are generated.
#include "data/dataset.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "data/data_file.h"
#include "data/generated.h"
#include "system/files.h"

namespace eggroll {
namespace {

std::string sha256_of(const Dataset& dataset) {
  Sha256 digest;
  for (const Tokens* tokens : {&dataset.train, &dataset.valid}) {
    const std::span<const std::byte> bytes = tokens->bytes();
    digest.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  if (dataset.vocabulary) digest.update(dataset.vocabulary->sha256());
  return digest.hex();
}

struct FileOptions {
  std::optional<NamedFile> path;
  std::optional<NamedFile> valid;
  double valid_fraction = 0.0;
  std::optional<uint32_t> separator;
  std::optional<NamedFile> vocabulary;
  TokenFormat format = TokenFormat::kUint8;

  const NamedFile& train() const {
    if (path) return *path;
    throw setting_error("path", "path is null, expected a file; set dataset.path=FILE");
  }
};

FileOptions read_file_options(Settings& settings, bool is_text) {
  FileOptions options;
  if (!settings.is_null("path")) options.path = NamedFile{"path", settings.text("path")};
  if (!settings.is_null("valid_path")) options.valid = NamedFile{"valid_path", settings.text("valid_path")};
  using Limits = std::numeric_limits<double>;
  options.valid_fraction = settings.real("valid_fraction", Limits::lowest(), Limits::max());
  const double fraction = options.valid_fraction;
  const bool is_idle = options.valid && (fraction == 0.0 || fraction == 1.0);
  if (!is_idle && !(fraction > 0.0 && fraction < 1.0)) {
    throw setting_error("valid_fraction",
                        fmt::format("valid_fraction is {}, expected a number above 0 and below 1; set it to "
                                    "0.1, or set dataset.valid_path=FILE",
                                    options.valid_fraction));
  }
  const int64_t largest = is_text ? 255 : kMaxVocab - 1;
  if (!settings.is_null("separator")) {
    options.separator = static_cast<uint32_t>(settings.integer("separator", 0, largest));
  }
  if (!is_text) {
    options.format = static_cast<TokenFormat>(settings.choice("dtype", {"uint8", "uint16", "uint32", "npy"}));
    if (!settings.is_null("vocabulary")) options.vocabulary = NamedFile{"vocabulary", settings.text("vocabulary")};
  }
  settings.finish();
  return options;
}

void split(const FileOptions& options, Dataset& dataset) {
  const Tokens all = open_tokens(options.train(), options.format);
  if (options.valid) {
    dataset.train = all;
    dataset.valid = open_tokens(*options.valid, options.format);
    for (const auto& [tokens, file] :
         {std::pair{&dataset.train, &options.train()}, {&dataset.valid, &*options.valid}}) {
      if (tokens->size() >= 2) continue;
      throw file->error(fmt::format("which is too short ({} tokens)", tokens->size()), "at least 2 tokens",
                        "use a longer file");
    }
    return;
  }
  const auto held_out = static_cast<uint64_t>(static_cast<double>(all.size()) * options.valid_fraction + 0.5);
  dataset.train = all.part(0, all.size() - held_out);
  dataset.valid = all.part(all.size() - held_out, held_out);
  if (dataset.train.size() < 2 || held_out < 2) {
    throw setting_error("valid_fraction",
                        fmt::format("valid_fraction is {}, which leaves {} training and {} held-out tokens of "
                                    "'{}', expected at least 2 of each; use a longer file or another fraction",
                                    options.valid_fraction, dataset.train.size(), held_out, all.source()));
  }
}

void check_wide_tokens(const Tokens& tokens, const NamedFile& file, uint32_t largest) {
  if (largest < kMaxVocab) return;
  throw file.error(fmt::format("which holds the token {}", largest), fmt::format("tokens below {}", kMaxVocab),
                   fmt::format("check that the tokens are {}-byte integers (dataset.dtype)", tokens.width()));
}

// Every token that occurs must have bytes: there is then something to divide the bits by.
void check_spelt(const Tokens& tokens, const char* part, const NamedFile& file, const Vocabulary& vocabulary) {
  for (uint64_t i = 0; i < tokens.size(); ++i) {
    const uint32_t token = tokens[i];
    if (token < vocabulary.size() && !vocabulary.bytes(token).empty()) continue;
    throw file.error(
        fmt::format("whose {} part holds the token {} at position {}", part, token, i),
        fmt::format("tokens that have bytes in the vocabulary '{}' of {}", vocabulary.source(), vocabulary.size()),
        "set dataset.vocabulary to the one these tokens were made with");
  }
}

void read_vocabulary(const FileOptions& options, Dataset& dataset) {
  dataset.vocabulary = std::make_shared<const Vocabulary>(*options.vocabulary);
  check_spelt(dataset.train, "training", options.train(), *dataset.vocabulary);
  check_spelt(dataset.valid, "held-out", options.valid ? *options.valid : options.train(), *dataset.vocabulary);
  dataset.unit = "byte";
  dataset.vocab_needed = dataset.vocabulary->size();
  dataset.facts["train_bytes"] = dataset.units(dataset.train);
  dataset.facts["valid_bytes"] = dataset.units(dataset.valid);
  dataset.facts["vocabulary_sha256"] = dataset.vocabulary->sha256();
}

Dataset file_dataset(const FileOptions& options, bool is_text) {
  Dataset dataset;
  dataset.name = is_text ? "text" : "tokens";
  dataset.unit = is_text ? "byte" : "token";
  split(options, dataset);
  if (is_text) {
    dataset.vocab_needed = 256;
  } else {
    const uint32_t train_max = dataset.train.max();
    const uint32_t valid_max = dataset.valid.max();
    check_wide_tokens(dataset.train, options.train(), train_max);
    check_wide_tokens(dataset.valid, options.valid ? *options.valid : options.train(), valid_max);
    dataset.vocab_needed = std::max(train_max, valid_max) + 1;
  }
  dataset.facts["train_tokens"] = dataset.train.size();
  dataset.facts["valid_tokens"] = dataset.valid.size();
  if (options.vocabulary) read_vocabulary(options, dataset);
  if (options.separator) {
    dataset.separator = options.separator;
    const uint64_t separators = dataset.train.count(*options.separator);
    if (separators == 0) {
      throw setting_error("separator", fmt::format("separator is {}, which the training part of '{}' does not "
                                                   "hold, expected a token that it holds or null; set "
                                                   "dataset.separator=null",
                                                   *options.separator, options.train().path));
    }
    dataset.facts["train_separators"] = separators;
  }
  return dataset;
}

CountOptions read_count_options(Settings& settings) {
  CountOptions options;
  options.vocab = static_cast<uint32_t>(settings.integer("vocab", 2, 65536));
  options.length = static_cast<uint32_t>(settings.integer("length", 1, kMaxGeneratedTokens / 4));
  options.rows = static_cast<uint32_t>(settings.integer("rows", 1, kMaxGeneratedTokens / 2));
  options.valid_rows = static_cast<uint32_t>(settings.integer("valid_rows", 1, kMaxGeneratedTokens / 4));
  options.seed = static_cast<uint64_t>(settings.integer("seed", 0, std::numeric_limits<int64_t>::max()));
  settings.finish();
  return options;
}

MarkovOptions read_markov_options(Settings& settings) {
  MarkovOptions options;
  options.vocab = static_cast<uint32_t>(settings.integer("vocab", 2, 1024));
  options.sharpness = static_cast<uint32_t>(settings.integer("sharpness", 1, 64));
  options.tokens = static_cast<uint32_t>(settings.integer("tokens", 2, kMaxGeneratedTokens));
  options.valid_tokens = static_cast<uint32_t>(settings.integer("valid_tokens", 2, kMaxGeneratedTokens));
  options.seed = static_cast<uint64_t>(settings.integer("seed", 0, std::numeric_limits<int64_t>::max()));
  settings.finish();
  return options;
}

// What opens the dataset that the settings, all read now, describe.
std::function<Dataset()> read_dataset(Settings& settings) {
  const int32_t name = settings.choice("name", {"text", "tokens", "count", "markov"});
  if (name == 2) return [options = read_count_options(settings)] { return count_dataset(options); };
  if (name == 3) return [options = read_markov_options(settings)] { return markov_dataset(options); };
  const bool is_text = name == 0;
  return [options = read_file_options(settings, is_text), is_text] { return file_dataset(options, is_text); };
}

void check_part(const Tokens& tokens, const char* part, uint32_t vocab) {
  if (tokens.max() < vocab) return;
  uint64_t position = 0;
  while (tokens[position] < vocab) ++position;
  throw Error(fmt::format("token {} at position {} of the {} part of '{}' lies outside the model's vocabulary of {}, "
                          "expected every token below that; use a model with a vocabulary of at least {}",
                          tokens[position], position, part, tokens.source(), vocab, tokens.max() + 1),
              EGG_ERROR_CONFIG);
}

}  // namespace

Dataset open_dataset(Settings& settings) {
  Dataset dataset = read_dataset(settings)();
  dataset.sha256 = sha256_of(dataset);
  return dataset;
}

void check_dataset(Settings& settings) { read_dataset(settings); }

uint64_t Dataset::units(const Tokens& tokens) const {
  if (!vocabulary) return tokens.size();
  uint64_t sum = 0;
  for (uint64_t i = 0; i < tokens.size(); ++i) sum += units(tokens[i]);
  return sum;
}

void Dataset::require_unchanged() const {
  for (const Tokens* tokens : {&train, &valid}) {
    const DataFile* file = tokens->file();
    if (file == nullptr) continue;
    const DataFile::Change change = file->change();
    if (change == DataFile::Change::kNone) continue;
    if (change == DataFile::Change::kWritten || sha256_of(*this) != sha256) throw file->changed();
    file->accept();
  }
}

void check_vocabulary(const Dataset& dataset, uint32_t vocab) {
  if (dataset.vocabulary && dataset.vocabulary->size() != vocab) {
    throw Error(
        fmt::format("the vocabulary '{}' has {} tokens and the model's {}, expected as many; set model.vocab={}",
                    dataset.vocabulary->source(), dataset.vocabulary->size(), vocab, dataset.vocabulary->size()),
        EGG_ERROR_CONFIG);
  }
  if (vocab >= dataset.vocab_needed) return;
  check_part(dataset.train, "training", vocab);
  check_part(dataset.valid, "held-out", vocab);
}

}  // namespace eggroll
