#include "data/file_dataset.h"

#include <cmath>
#include <limits>
#include <utility>

namespace eggroll {
namespace {

// The tokens of the training file that are used.
Tokens open_taken(const FileOptions& options, TokenFormat format) {
  const Tokens all = open_all_tokens(options.train(), format);
  if (!options.take) return all;
  if (*options.take <= all.size()) return all.part(0, *options.take);
  throw setting_error("take",
                      fmt::format("take is {}, and '{}' has {} tokens, expected at most that; use fewer, or null "
                                  "for all",
                                  *options.take, all.source(), all.size()));
}

void split(const FileOptions& options, TokenFormat format, Dataset& dataset) {
  const Tokens all = open_taken(options, format);
  if (options.valid_path) {
    dataset.train = all;
    dataset.valid = open_all_tokens(*options.valid_path, format);
    for (const auto& [tokens, file] :
         {std::pair{&dataset.train, &options.train()}, {&dataset.valid, &*options.valid_path}}) {
      if (tokens->size() >= 2) continue;
      throw file->error(fmt::format("which is too short ({} tokens)", tokens->size()), "at least 2 tokens",
                        "use a longer file");
    }
    return;
  }
  const auto held_out = static_cast<uint64_t>(std::llround(static_cast<double>(all.size()) * options.valid_fraction));
  dataset.train = all.part(0, all.size() - held_out);
  dataset.valid = all.part(all.size() - held_out, held_out);
  if (dataset.train.size() < 2 || held_out < 2) {
    throw setting_error("valid_fraction",
                        fmt::format("valid_fraction is {}, which leaves {} training and {} held-out tokens of "
                                    "'{}', expected at least 2 of each; use a longer file or another fraction",
                                    options.valid_fraction, dataset.train.size(), held_out, all.source()));
  }
}

// Nothing here opens the test split. Runs from before there was such a key have none.
void check_test_path(Settings& settings, const FileOptions& options) {
  if (!settings.has("test_path") || settings.is_null("test_path")) return;
  const NamedFile test{"test_path", settings.text("test_path")};
  for (const std::optional<NamedFile>& read : {options.path, options.valid_path}) {
    if (!read || read->path != test.path) continue;
    throw test.error(fmt::format("which is dataset.{} too", read->key), "a file that the run does not read",
                     "name another, or set dataset.test_path=null");
  }
}

}  // namespace

const NamedFile& FileOptions::train() const {
  if (path) return *path;
  throw setting_error("path", "path is null, expected a file; set dataset.path=FILE");
}

const NamedFile& FileOptions::valid() const { return valid_path ? *valid_path : train(); }

FileOptions read_file_options(Settings& settings, uint32_t largest_separator) {
  FileOptions options;
  if (!settings.is_null("path")) options.path = NamedFile{"path", settings.text("path")};
  if (!settings.is_null("valid_path")) options.valid_path = NamedFile{"valid_path", settings.text("valid_path")};
  // Runs from before there was such a key have none.
  if (settings.has("take") && !settings.is_null("take")) {
    options.take = static_cast<uint64_t>(settings.integer("take", 2, std::numeric_limits<int64_t>::max()));
  }
  check_test_path(settings, options);
  using Limits = std::numeric_limits<double>;
  options.valid_fraction = settings.real("valid_fraction", Limits::lowest(), Limits::max());
  const double fraction = options.valid_fraction;
  const bool is_idle = options.valid_path && (fraction == 0.0 || fraction == 1.0);
  if (!is_idle && !(fraction > 0.0 && fraction < 1.0)) {
    throw setting_error("valid_fraction",
                        fmt::format("valid_fraction is {}, expected a number above 0 and below 1; set it to "
                                    "0.1, or set dataset.valid_path=FILE",
                                    options.valid_fraction));
  }
  if (!settings.is_null("separator")) {
    options.separator = static_cast<uint32_t>(settings.integer("separator", 0, largest_separator));
  }
  return options;
}

Dataset open_files(const FileOptions& options, TokenFormat format) {
  Dataset dataset;
  split(options, format, dataset);
  dataset.facts["train_tokens"] = dataset.train.size();
  dataset.facts["valid_tokens"] = dataset.valid.size();
  return dataset;
}

void set_separator(const FileOptions& options, Dataset& dataset) {
  if (!options.separator) return;
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

}  // namespace eggroll
