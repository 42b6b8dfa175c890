// Opens a dataset by its name, and checks what was opened.
#include "data/dataset.h"

#include <utility>

#include "config/named.h"
#include "data/data_file.h"
#include "data/datasets.h"
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

#define EGGROLL_ENTRY(name) {#name, datasets::name},
constexpr Named<DatasetOpener(Settings&)> kDatasets[] = {EGGROLL_DATASETS(EGGROLL_ENTRY)};
#undef EGGROLL_ENTRY

// The dataset's name and its opener. Reads all settings now.
std::pair<std::string, DatasetOpener> read_dataset(Settings& settings) {
  const auto& chosen = kDatasets[settings.choice("name", dataset_names())];
  DatasetOpener open = chosen.function(settings);
  settings.finish();
  return {chosen.name, std::move(open)};
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

std::vector<std::string> dataset_names() { return names_of(kDatasets); }

Dataset open_dataset(Settings& settings) {
  const auto [name, open] = read_dataset(settings);
  Dataset dataset = open();
  dataset.name = name;
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

std::string Dataset::held_out_sha256() const {
  const std::span<const std::byte> bytes = valid.bytes();
  return sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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
