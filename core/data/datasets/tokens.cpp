// A file of token numbers, and the vocabulary that says which bytes each stands for.
#include <algorithm>
#include <memory>
#include <optional>

#include "data/datasets.h"
#include "data/file_dataset.h"

namespace eggroll {
namespace {

struct TokensOptions {
  FileOptions files;
  TokenFormat format = TokenFormat::kUint8;
  std::optional<NamedFile> vocabulary;
};

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

void read_vocabulary(const TokensOptions& options, Dataset& dataset) {
  dataset.vocabulary = std::make_shared<const Vocabulary>(*options.vocabulary);
  check_spelt(dataset.train, "training", options.files.train(), *dataset.vocabulary);
  check_spelt(dataset.valid, "held-out", options.files.valid(), *dataset.vocabulary);
  dataset.unit = "byte";
  dataset.vocab_needed = dataset.vocabulary->size();
  dataset.facts["train_bytes"] = dataset.units(dataset.train);
  dataset.facts["valid_bytes"] = dataset.units(dataset.valid);
  dataset.facts["vocabulary_sha256"] = dataset.vocabulary->sha256();
}

Dataset open_token_files(const TokensOptions& options) {
  Dataset dataset = open_files(options.files, options.format);
  dataset.unit = "token";
  const uint32_t train_max = dataset.train.max();
  const uint32_t valid_max = dataset.valid.max();
  check_wide_tokens(dataset.train, options.files.train(), train_max);
  check_wide_tokens(dataset.valid, options.files.valid(), valid_max);
  dataset.vocab_needed = std::max(train_max, valid_max) + 1;
  if (options.vocabulary) read_vocabulary(options, dataset);
  set_separator(options.files, dataset);
  return dataset;
}

}  // namespace

DatasetOpener datasets::tokens(Settings& settings) {
  TokensOptions options;
  options.files = read_file_options(settings, kMaxVocab - 1);
  options.format = static_cast<TokenFormat>(settings.choice("dtype", {"uint8", "uint16", "uint32", "npy"}));
  if (!settings.is_null("vocabulary")) options.vocabulary = NamedFile{"vocabulary", settings.text("vocabulary")};
  return [options = std::move(options)] { return open_token_files(options); };
}

}  // namespace eggroll
