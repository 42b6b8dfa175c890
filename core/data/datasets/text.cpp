// A file, read as bytes.
#include "data/datasets.h"
#include "data/file_dataset.h"

namespace eggroll {

DatasetOpener datasets::text(Settings& settings) {
  return [options = read_file_options(settings, 255)] {
    Dataset dataset = open_files(options, TokenFormat::kUint8);
    dataset.unit = "byte";
    dataset.vocab_needed = 256;
    set_separator(options, dataset);
    return dataset;
  };
}

}  // namespace eggroll
