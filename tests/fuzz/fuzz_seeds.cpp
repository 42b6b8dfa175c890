// Writes the first inputs of each fuzzer with the project's own writers: fuzz_seeds FOLDER
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "config/override_table.h"
#include "eggroll/rule_builder.h"
#include "fuzz/checkpoint_bytes.h"
#include "fuzz/input.h"
#include "fuzz/seam_bytes.h"
#include "program/tiny_programs.h"
#include "record/metrics.h"
#include "record/record.h"
#include "support/whole_checkpoint.h"
#include "system/files.h"
#include "train/checkpoint.h"
#include "train/journal.h"

namespace eggroll::test {
namespace {

namespace fs = std::filesystem;

class Seeds {
 public:
  explicit Seeds(fs::path folder) : folder_(std::move(folder)) {}

  void write_all() {
    overrides();
    checkpoints();
    journals();
    metrics();
    records();
    tokens();
    seam();
  }

 private:
  void put_seed(const std::string& fuzzer, const std::string& bytes) {
    fs::create_directories(folder_ / fuzzer);
    std::ofstream(folder_ / fuzzer / std::to_string(number_++), std::ios::binary) << bytes;
  }

  void overrides() {
    for (const OverrideRow& row : override_table()) {
      std::string lines;
      for (const std::string& text : row.overrides) lines += text + '\n';
      put_seed("overrides", lines);
    }
  }

  // Writes the whole folder, with checksums as they are and mended, and each file of tensors alone.
  void checkpoints() {
    Checkpoint checkpoint;
    checkpoint.step = 3;
    checkpoint.identity = {std::string(16, '1'), std::string(64, '2'), std::string(64, '3'), std::string(64, '4')};
    checkpoint.weights = {{"w", 2, 2, {1, -2, 127, -127}}, {"b", 1, 1, {0}}};
    checkpoint.slots = {{"w", "m", 'f', {0, 1, 2, 3}}, {"b", "n", 'i', {7}}};
    checkpoint.population = 2;
    checkpoint.state_bytes = 3;
    checkpoint.states = {1, 2, 3, -1, -2, -3};
    checkpoint.evaluations = {{0, 65536, 8}, {2, 60000, 8}};
    checkpoint.counters = {{"member_tokens", 96}, {"unique_tokens", 48}, {"seconds", 0.5}};
    const fs::path folder = save_checkpoint(scratch().path(), checkpoint, 1);
    std::string parts;
    for (size_t i = 0; i < kCheckpointFiles.size(); ++i) {
      const std::string bytes = read_file(folder / kCheckpointFiles[i]);
      if (i + 1 < kCheckpointFiles.size()) put(parts, static_cast<uint32_t>(bytes.size()));
      parts += bytes;
      if (i > 0) put_seed("safetensors", bytes);
    }
    put_seed("checkpoint", std::string(1, '\0') + parts);
    put_seed("checkpoint", std::string(1, '\1') + parts);
  }

  void journals() {
    const fs::path path = scratch().path() / "journal.bin";
    {
      JournalWriter writer(path, 4, std::string(64, 'a'), 0);
      writer.append(0, egg_evaluation{0, 65536, 8}, std::vector<int8_t>{1, -1, 127, -127});
      writer.append(1, std::nullopt, std::vector<int8_t>(4, 0));
      writer.append(2, egg_evaluation{2, 60000, 8}, std::vector<int8_t>{5, 6, 7, 8});
    }
    for (const char mended : {'\0', '\1'}) put_seed("journal", mended + read_file(path));
  }

  void metrics() {
    const fs::path path = scratch().path() / "metrics.jsonl";
    {
      MetricsFile file(path, 0);
      file.append({{"step", 0}, {"member_tokens", 0}, {"held_out_bits_per_unit", 8.25}, {"held_out_tokens", 512}});
      file.append({{"step", 1}, {"member_tokens", 64}, {"train_bits_per_unit", 7.5}, {"step_seconds", 0.25}});
      file.append({{"step", 2}, {"monitor", {{"verdicts", {"h is stuck"}}}}});
    }
    put_seed("metrics", read_file(path));
  }

  void records() {
    RunRecord record;
    record.name = "seed";
    record.status = RunStatus::kCompleted;
    record.started_utc = "2026-01-02T03:04:05Z";
    record.ended_utc = "2026-01-02T03:05:05Z";
    record.wall_seconds = 60.5;
    record.config_hash = std::string(64, 'c');
    record.config = {{"train", {{"steps", 2}}}};
    record.overrides = {"train.steps=2"};
    record.command_line = {"eggroll", "run", "train.steps=2"};
    record.plugins = {
        {"backend", "reference", "0.1.0", "gcc", std::string(64, 'd'), "reference.eggplugin", "asked for"}};
    record.dataset =
        DatasetRecord{"count", std::string(64, 'e'), "token", {{"train", 64}}, {{"entropy_rate_bits", 0.0}}};
    record.baselines = {4.0, 3.5, std::nullopt};
    record.steps = 2;
    record.best = Evaluation{1, 3.5, 512, "token", 700};
    record.final = Evaluation{2, 3.25, 512, "token", 700};
    record.weights_sha256 = std::string(64, 'f');
    record.metrics_file = "metrics.jsonl";
    put_record(record);
    record.average = AverageRecord{std::nullopt, record.final};
    put_record(record);
    record.status = RunStatus::kFailed;
    record.error = "a disk is full";
    record.failure = Failure{Failure::Kind::kSignal, "SIGSEGV", {"its last line"}};
    record.processes = ProcessesRecord{2, 64, {"sharded", 128, 0.5, 0.25}};
    record.sweep = SweepRecord{"grid", 3, {{"seed", "1"}}, "does it help?", {{{"text", "it does"}}}};
    record.verdicts = Verdicts{2, {"h is stuck"}};
    put_record(record);
  }
  void put_record(const RunRecord& record) {
    const fs::path path = scratch().path() / "record.json";
    write_record(path, record);
    put_seed("record", read_file(path));
  }

  // Files as other programs write them: numpy, and tools/prepare_dataset.
  void tokens() {
    const std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }";
    const std::string padded = header + std::string(118 - 1 - header.size(), ' ') + '\n';
    for (const char version : {'\1', '\2'}) {
      const std::string size = version == '\1' ? std::string("\x76\0", 2) : std::string("\x76\0\0\0", 4);
      put_seed("npy", std::string("\x93NUMPY") + version + '\0' + size + padded + "abcdef");
    }
    std::string every_byte = "eggroll vocabulary 1\n";
    for (int byte = 0; byte < 256; ++byte) {
      every_byte += {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16], '\n'};
    }
    put_seed("vocabulary", every_byte + "616263\n6162\n");
    put_seed("vocabulary", "eggroll vocabulary 1\n61\n\nff00\n");
  }

  void seam() {
    for (ProgramBuilder program : {tiny_program(), tiny_former()}) put_seed("program", bytes_of(*program.view()));
    RuleBuilder b;
    const Node rate = b.scalar("rate");
    const Node old = b.slot("momentum", 'f');
    const Node sum = b.op(EGG_RULE_FADD, {b.op(EGG_RULE_FMUL, {old, b.constant(0.9F)}),
                                          b.op(EGG_RULE_FDIV, {b.vote_f32(), b.vote_std()})});
    b.set_slot(old, sum);
    const Node count = b.slot("count", 'i');
    b.set_slot(count, b.op(EGG_RULE_IADD, {count, b.constant(1)}));
    const Node moved = b.op(EGG_RULE_TRUNC_I32, {b.op(EGG_RULE_FMUL, {sum, rate})});
    const Node still = b.op(EGG_RULE_ILT, {b.weight(), b.vote_i32()});
    b.delta(b.op(EGG_RULE_SELECT, {still, moved, count}));
    put_seed("rule", bytes_of(*b.view()));
  }

  const fs::path folder_;
  int number_ = 0;
};

}  // namespace
}  // namespace eggroll::test

int main(int, char** arguments) { eggroll::test::Seeds(arguments[1]).write_all(); }
