// What people write about a run: tags and a note. They lie beside its record, change nothing of it and are in no
// report.
#ifndef EGGROLL_TOOLS_CLI_LABELS_H
#define EGGROLL_TOOLS_CLI_LABELS_H

#include <string>
#include <vector>

#include "train/run_folder.h"

namespace eggroll {

struct Labels {
  std::vector<std::string> tags;  // in the order given, each once
  std::string note;
};

// Empty if the run has no labels. Throws Error if labels.json is damaged.
Labels read_labels(const RunFolder& folder);
void write_labels(const RunFolder& folder, const Labels& labels);

}  // namespace eggroll

#endif
