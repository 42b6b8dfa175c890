// The configuration that a run keeps in its folder.
#ifndef EGGROLL_TRAIN_RUN_FOLDER_H
#define EGGROLL_TRAIN_RUN_FOLDER_H

#include "config/tree.h"
#include "record/run_files.h"

namespace eggroll {

// config.yaml, sealed (record/seal.h). A user who changes it on purpose removes its first line; its hash, which
// checkpoints and journal hold, still guards what decides weights. Throws Error if the seal is broken, or if the file
// holds no map or is too large.
void write_config(const RunFolder& folder, const ConfigNode& config);
ConfigNode read_config(const RunFolder& folder);

}  // namespace eggroll

#endif
