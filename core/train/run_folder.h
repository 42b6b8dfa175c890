// The names of what a run keeps in its folder.
#ifndef EGGROLL_TRAIN_RUN_FOLDER_H
#define EGGROLL_TRAIN_RUN_FOLDER_H

#include <filesystem>

#include "config/tree.h"

namespace eggroll {

struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.yaml"; }
  std::filesystem::path record() const { return path / "record.json"; }
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path journal() const { return path / "journal.bin"; }
  std::filesystem::path curve() const { return path / "curve.png"; }
  std::filesystem::path point() const { return path / "point.json"; }  // of a sweep's point
  std::filesystem::path log() const { return path / "log.txt"; }       // likewise
  std::filesystem::path samples() const { return path / "samples.txt"; }
};

// config.yaml, sealed (record/seal.h). Who changes it on purpose removes its first line; its hash, which checkpoints
// and journal hold, still guards what decides weights. Error: the seal is broken.
void write_config(const RunFolder& folder, const ConfigNode& config);
ConfigNode read_config(const RunFolder& folder);

}  // namespace eggroll

#endif
