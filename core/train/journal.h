// journal.bin: every step's fitness and the evaluations between steps, from which replay rebuilds any checkpoint.
//
// Header: "EGGJRNL" and a zero byte; version and pairs, uint32; config hash, 64 bytes, zero-padded; crc32 of all that.
// Then an entry for each step from the run's first on: step, uint64; loss, int64, and tokens, uint64, of the evaluation
// just before it, 0 tokens if there was none; fitness, int8 (pairs); crc32 of all that. Integers are little-endian.
#ifndef EGGROLL_TRAIN_JOURNAL_H
#define EGGROLL_TRAIN_JOURNAL_H

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eggroll/plugin.h"
#include "system/files.h"

namespace eggroll {

struct JournalEntry {
  uint64_t step = 0;
  std::optional<egg_evaluation> evaluation;  // after `step` steps, before this one
  std::vector<int8_t> fitness;               // (pairs)
};

class JournalWriter {
 public:
  // origin: the run's first step. If first_step is origin, the journal begins anew. Else it must hold the steps before
  // first_step and is cut back to them: a torn last entry and steps done after the checkpoint go. Throws if it has
  // another number of pairs or another config hash.
  JournalWriter(const std::filesystem::path& path, uint32_t pairs, const std::string& config_hash, uint64_t first_step,
                uint64_t origin = 0);

  // Steps come one after another from first_step on.
  void append(uint64_t step, const std::optional<egg_evaluation>& evaluation, std::span<const int8_t> fitness);
  void flush() { file_.flush(); }
  uint64_t size() const { return file_.size(); }  // bytes

 private:
  uint32_t pairs_;
  uint64_t next_step_;
  AppendFile file_;
  std::string bytes_;  // of an entry
};

class JournalReader {
 public:
  // origin: the run's first step.
  explicit JournalReader(const std::filesystem::path& path, uint64_t origin = 0);

  uint32_t pairs() const { return pairs_; }
  const std::string& config_hash() const { return config_hash_; }

  // Reads the next step, from the first on; false at the end. Throws, naming the step, if an entry before the last
  // is damaged.
  bool next(JournalEntry& entry);

  // After next() has returned false: whether a last entry, cut short or damaged by a crash, was left out.
  bool torn() const { return torn_; }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  uint32_t pairs_ = 0;
  std::string config_hash_;
  uint64_t origin_;
  uint64_t entries_ = 0;  // whole entries
  uint64_t step_ = 0;     // of the next entry
  bool torn_ = false;
};

}  // namespace eggroll

#endif
