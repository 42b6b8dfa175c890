// The list of datasets. docs/adding.md says how to add one.
#ifndef EGGROLL_DATA_DATASETS_H
#define EGGROLL_DATA_DATASETS_H

#include <functional>

#include "data/dataset.h"
#include "eggroll/settings.h"

// In the order in which messages name them. NAME is defined in data/datasets/NAME.cpp.
#define EGGROLL_DATASETS(X) \
  X(text)                   \
  X(tokens)                 \
  X(count)                  \
  X(markov)

namespace eggroll {

// Opens or makes the dataset whose settings have been read. It leaves `name` and `sha256` to its caller.
using DatasetOpener = std::function<Dataset()>;

// Each function reads its settings, all but `name`, and opens no file: the opener does.
namespace datasets {
#define EGGROLL_DECLARE(name) DatasetOpener name(Settings& settings);
EGGROLL_DATASETS(EGGROLL_DECLARE)
#undef EGGROLL_DECLARE
}  // namespace datasets

}  // namespace eggroll

#endif
