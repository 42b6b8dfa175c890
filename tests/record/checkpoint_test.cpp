#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <set>
#include <utility>

#include "record/scratch.h"
#include "record/seal.h"
#include "support/whole_checkpoint.h"
#include "system/files.h"
#include "train/kept_checkpoints.h"

namespace eggroll {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CheckpointTest : public ScratchTest {
 protected:
  std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }

  std::string names() const {
    std::vector<std::string> list;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints()))
      list.push_back(entry.path().filename());
    std::sort(list.begin(), list.end());
    std::string text;
    for (const std::string& name : list) text += (text.empty() ? "" : " ") + name;
    return text;
  }
};

Checkpoint sample(uint64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.identity = {"00000000000000aa", "00000000000000bb", "00000000000000cc", std::string(64, 'd')};
  checkpoint.weights = {{"z.first", 2, 3, {1, -2, 3, -127, 127, 0}},
                        {"a.second", 2, 1, {static_cast<int8_t>(step % 100), 9}}};
  checkpoint.slots = {{"z.first", "residual", 'i', {1, 2, 3, 4, 5, 0xffffffff}},
                      {"z.first", "moment", 'f', {0x3f800000, 0, 0x80000000, 0x7f7fffff, 1, 2}}};
  checkpoint.population = 4;
  checkpoint.state_bytes = 2;
  checkpoint.states = {1, 2, 3, 4, -5, -6, -7, 127};
  checkpoint.evaluations = {{0, int64_t{1} << 50, 777}, {step, 5, std::numeric_limits<uint64_t>::max()}};
  checkpoint.data_sha256 = std::string(64, 'e');
  checkpoint.counters = {{"member_tokens", 1234567890123}, {"seconds", 1.5}};
  return checkpoint;
}

void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.identity.spec_hash, b.identity.spec_hash);
  EXPECT_EQ(a.identity.program_hash, b.identity.program_hash);
  EXPECT_EQ(a.identity.rule_hash, b.identity.rule_hash);
  EXPECT_EQ(a.identity.config_hash, b.identity.config_hash);
  ASSERT_EQ(a.weights.size(), b.weights.size());
  for (size_t i = 0; i < a.weights.size(); ++i) {
    EXPECT_EQ(a.weights[i].name, b.weights[i].name);
    EXPECT_EQ(a.weights[i].rows, b.weights[i].rows);
    EXPECT_EQ(a.weights[i].cols, b.weights[i].cols);
    EXPECT_EQ(a.weights[i].data, b.weights[i].data);
  }
  ASSERT_EQ(a.slots.size(), b.slots.size());
  for (size_t i = 0; i < a.slots.size(); ++i) {
    EXPECT_EQ(a.slots[i].param, b.slots[i].param);
    EXPECT_EQ(a.slots[i].slot, b.slots[i].slot);
    EXPECT_EQ(a.slots[i].type, b.slots[i].type);
    EXPECT_EQ(a.slots[i].bits, b.slots[i].bits);
  }
  EXPECT_EQ(a.population, b.population);
  EXPECT_EQ(a.state_bytes, b.state_bytes);
  EXPECT_EQ(a.states, b.states);
  ASSERT_EQ(a.evaluations.size(), b.evaluations.size());
  for (size_t i = 0; i < a.evaluations.size(); ++i) {
    EXPECT_EQ(a.evaluations[i].step, b.evaluations[i].step);
    EXPECT_EQ(a.evaluations[i].loss, b.evaluations[i].loss);
    EXPECT_EQ(a.evaluations[i].tokens, b.evaluations[i].tokens);
  }
  EXPECT_EQ(a.sample, b.sample);
  EXPECT_EQ(a.data_sha256, b.data_sha256);
  EXPECT_EQ(a.counters, b.counters);
}

TEST_F(CheckpointTest, LoadsWhatItSaved) {
  const auto path = save_checkpoint(folder_, sample(800), 3);
  EXPECT_EQ(path, checkpoints() / "step-00000800");
  EXPECT_EQ(names(), "step-00000800");
  EXPECT_EQ(entries_in(path), 4U);
  expect_equal(load_checkpoint(path), sample(800));
}

TEST_F(CheckpointTest, LoadsWhatVersion01Saved) {
  const auto path = save_checkpoint(folder_, sample(800), 3);
  auto description = nlohmann::ordered_json::parse(read_file(path / "checkpoint.json"));
  description["format"] = 2;
  for (const char* key : {"held_out_sample", "data_sha256", "sha256"}) description.erase(key);
  write_plainly(path / "checkpoint.json", description.dump(2) + "\n");
  Checkpoint expected = sample(800);
  expected.data_sha256.clear();
  expected.sample = HeldOutSample::kPrefix;
  expect_equal(load_checkpoint(path), expected);
  expect_equal(load_checkpoint(save_checkpoint(folder_ / "checkpoints", expected, 1)), expected);
}

TEST_F(CheckpointTest, LoadsARunWithoutSlotsAndStates) {
  Checkpoint bare = sample(1);
  bare.slots.clear();
  bare.state_bytes = 0;
  bare.states.clear();
  expect_equal(load_checkpoint(save_checkpoint(folder_, bare, 1)), bare);
}

TEST_F(CheckpointTest, KeepsTheNewestAndFindsTheLatest) {
  EXPECT_EQ(latest_checkpoint(folder_), std::nullopt);
  for (const uint64_t step : {5U, 90U, 100U, 123456789U}) save_checkpoint(folder_, sample(step), 3);
  EXPECT_EQ(names(), "step-00000090 step-00000100 step-123456789");
  EXPECT_EQ(latest_checkpoint(folder_), checkpoints() / "step-123456789");
  save_checkpoint(folder_, sample(7), 1);  // the one just saved stays, whatever its step
  EXPECT_EQ(names(), "step-00000007");
  EXPECT_EQ(message_of([&] { save_checkpoint(folder_, sample(8), 0); }),
            "checkpoints to keep are 0, expected at least 1; correct the setting");
}

TEST_F(CheckpointTest, KeepsThatOfTheBestEvaluationBesideTheNewest) {
  EXPECT_FALSE(best_checkpoint(folder_).has_value());
  std::vector<egg_evaluation> evaluations = {{0, 10, 4}, {1, 90, 100}};  // of 4 tokens: more bits each
  const auto save = [&](uint64_t step, int64_t loss) {
    evaluations.push_back({step, loss, 100});
    Checkpoint checkpoint = sample(step);
    checkpoint.evaluations = evaluations;
    save_checkpoint(folder_, checkpoint, 2);
  };
  save(10, 70);
  save(20, 60);
  save(30, 60);
  EXPECT_EQ(names(), "step-00000020 step-00000030");
  save(40, 65);
  save(50, 61);
  EXPECT_EQ(names(), "step-00000020 step-00000040 step-00000050");
  const auto best = best_checkpoint(folder_);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->folder, checkpoints() / "step-00000020");
  EXPECT_EQ(best->step, 20U);
  EXPECT_EQ(best->best_step, 20U);
  evaluations.push_back({55, 50, 100});  // no checkpoint was saved after it
  save(60, 59);
  EXPECT_EQ(names(), "step-00000050 step-00000060");
  EXPECT_EQ(best_checkpoint(folder_)->step, 60U);
  EXPECT_EQ(best_checkpoint(folder_)->best_step, 55U);
  write_plainly(checkpoints() / "step-00000060" / "checkpoint.json", "{}");
  EXPECT_THAT(message_of([&] { best_checkpoint(folder_); }), HasSubstr("checkpoint.json"));
}

TEST_F(CheckpointTest, HasNoBestWhereNoneWasEvaluated) {
  Checkpoint checkpoint = sample(3);
  checkpoint.evaluations = {{0, 5, 10}, {3, 5, 0}};
  save_checkpoint(folder_, checkpoint, 2);
  EXPECT_FALSE(best_checkpoint(folder_).has_value());
}

TEST_F(CheckpointTest, WhatAKillLeavesIsNeverTakenForACheckpoint) {
  save_checkpoint(folder_, sample(10), 3);
  // Leftovers of a kill during a save, and during the removal of an old checkpoint.
  std::filesystem::copy(checkpoints() / "step-00000010", checkpoints() / ".tmp-20");
  std::filesystem::copy(checkpoints() / "step-00000010", checkpoints() / ".tmp-step-00000005");
  std::filesystem::create_directory(checkpoints() / "step-00000099");
  std::filesystem::create_directory(checkpoints() / "step-x");
  EXPECT_EQ(latest_checkpoint(folder_), checkpoints() / "step-00000010");
  save_checkpoint(folder_, sample(20), 3);
  EXPECT_EQ(names(), "step-00000010 step-00000020 step-00000099 step-x");
  expect_equal(load_checkpoint(checkpoints() / "step-00000020"), sample(20));
}

TEST_F(CheckpointTest, AKillAtAnyInstantLeavesTheCheckpointBeforeOrTheOneAfter) {
  uint64_t last = 0;
  for (unsigned milliseconds = 1; milliseconds < 40; milliseconds += 3) {
    save_checkpoint(folder_, sample(++last), 2);
    const pid_t child = ::fork();
    if (child == 0) {
      for (uint64_t step = last + 1;; ++step) save_checkpoint(folder_, sample(step), 2);
    }
    ::usleep(milliseconds * 1000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto latest = latest_checkpoint(folder_);
    ASSERT_TRUE(latest.has_value());
    const Checkpoint loaded = load_checkpoint(*latest);
    EXPECT_GE(loaded.step, last);
    expect_equal(loaded, sample(loaded.step));
    last = loaded.step;
  }
}

TEST_F(CheckpointTest, SavingAStepAgainKeepsAGoodOneAndReplacesADamagedOne) {
  const auto path = save_checkpoint(folder_, sample(10), 3);
  Checkpoint later = sample(10);
  later.counters["seconds"] = 99.0;
  save_checkpoint(folder_, later, 3);
  EXPECT_EQ(load_checkpoint(path).counters["seconds"], 1.5);
  write_plainly(path / "states.safetensors", "damaged");
  save_checkpoint(folder_, later, 3);
  expect_equal(load_checkpoint(path), later);
  std::filesystem::remove(path / "checkpoint.json");
  save_checkpoint(folder_, sample(10), 3);
  expect_equal(load_checkpoint(path), sample(10));
  EXPECT_EQ(names(), "step-00000010");
}

TEST_F(CheckpointTest, AFullDiskLosesNothing) {
  save_checkpoint(folder_, sample(10), 1);
  std::set<std::string> failed;
  for (rlim_t size = 0; failed.count("") == 0; size += 100) {  // each file in turn is the first one that does not fit
    const std::string text = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{size, size};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
      return message_of([&] { save_checkpoint(folder_, sample(20), 1); });
    });
    if (text.empty()) {
      failed.insert("");
      continue;
    }
    const std::string head = "cannot write " + (checkpoints() / ".tmp-20").string() + "/";
    const std::string tail =
        ": File too large; raise the file size limit (ulimit -f) or choose a disk that takes larger files, then run "
        "the "
        "same command again";
    ASSERT_THAT(text, AllOf(StartsWith(head), EndsWith(tail)));
    failed.insert(text.substr(head.size(), text.size() - head.size() - tail.size()));
    EXPECT_EQ(names(), "step-00000010");
    expect_equal(load_checkpoint(checkpoints() / "step-00000010"), sample(10));
  }
  EXPECT_THAT(failed, ::testing::IsSupersetOf({"model.safetensors", "checkpoint.json", ""}));
  EXPECT_EQ(names(), "step-00000020");
}

TEST_F(CheckpointTest, ATensorThatCannotBeReadLeavesTheCheckpointBefore) {
  save_checkpoint(folder_, sample(10), 1);
  const auto message_with = [&](const std::function<std::string_view()>& read) {
    CheckpointTensors tensors;
    tensors.weights = {{{"good", TensorType::kI8, {1, 1}}, [] { return std::string_view("a"); }},
                       {{"w", TensorType::kI8, {1, 2}}, read}};
    tensors.states = {{"states", TensorType::kI8, {0, 0}}, [] { return std::string_view(); }};
    return message_of([&] { save_checkpoint(folder_, sample(20), tensors, 1); });
  };
  EXPECT_EQ(message_with([]() -> std::string_view { throw Error("the device is lost; restart it"); }),
            "the device is lost; restart it");
  EXPECT_EQ(message_with([] { return std::string_view("a"); }),
            "tensor 'w' has 1 bytes, expected 2 from its shape; report this as a bug");
  EXPECT_EQ(names(), "step-00000010");
  EXPECT_EQ(message_with([] { return std::string_view("ab"); }), "");
  EXPECT_EQ(names(), "step-00000020");
}

TEST_F(CheckpointTest, EveryDamagedFileIsNamedWithTheCure) {
  const auto path = save_checkpoint(folder_, sample(10), 1);
  const std::string head = "checkpoint " + path.string() + " is damaged: ";
  const std::string tail = "; delete that folder and run again to go on from the checkpoint before it";
  const auto message_with = [&](const std::string& name, const std::string& bytes) {
    const std::string before = read_file(path / name);
    write_plainly(path / name, bytes);
    const std::string text = message_of([&] { load_checkpoint(path); });
    write_plainly(path / name, before);
    return text;
  };
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "states.safetensors"}) {
    const std::string name = file;
    const std::string bytes = read_file(path / name);
    for (const size_t size : {size_t{0}, size_t{7}, bytes.size() - 1}) {
      EXPECT_EQ(
          message_with(name, bytes.substr(0, size)),
          head + name + " has " + std::to_string(size) + " bytes, expected " + std::to_string(bytes.size()) + tail);
    }
    std::string flipped = bytes;
    flipped.back() = static_cast<char>(flipped.back() ^ 1);
    EXPECT_EQ(message_with(name, flipped),
              head + "the sha256 of " + name + " is not the one in checkpoint.json" + tail);
    std::filesystem::rename(path / name, folder_ / "aside");
    EXPECT_EQ(message_of([&] { load_checkpoint(path); }), head + name + " is missing" + tail);
    std::filesystem::rename(folder_ / "aside", path / name);
  }
  EXPECT_EQ(message_with("checkpoint.json", ""), head + "checkpoint.json is not a JSON object" + tail);
  EXPECT_EQ(message_with("checkpoint.json", "{}"), head + "checkpoint.json: key 'format' not found" + tail);
  const std::string description = read_file(path / "checkpoint.json");
  for (size_t size = 0; size + 2 < description.size(); size += 13) {
    EXPECT_THAT(message_with("checkpoint.json", description.substr(0, size)), StartsWith(head)) << size;
  }
  std::filesystem::remove(path / "checkpoint.json");
  EXPECT_EQ(message_of([&] { load_checkpoint(path); }), head + "checkpoint.json is missing" + tail);
}

TEST_F(CheckpointTest, RefusesAnotherFormat) {
  const auto path = save_checkpoint(folder_, sample(10), 1);
  auto description = nlohmann::json::parse(read_file(path / "checkpoint.json"));
  for (const int format : {1, 4}) {
    description["format"] = format;
    write_plainly(path / "checkpoint.json", description.dump());
    EXPECT_EQ(message_of([&] { load_checkpoint(path); }),
              path.string() + " has checkpoint format " + std::to_string(format) +
                  ", this eggroll reads formats 2 and 3; use the eggroll that wrote it");
  }
}

TEST_F(CheckpointTest, RefusesAFlippedBitOfItsDescription) {
  const auto path = save_checkpoint(folder_, sample(10), 1);
  const std::string whole = read_file(path / "checkpoint.json");
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 7));
    write_plainly(path / "checkpoint.json", flipped);
    const std::string text = message_of([&] { expect_equal(load_checkpoint(path), sample(10)); });
    EXPECT_TRUE(text.empty() || text.find(path.string()) != std::string::npos) << text;
  }
  // The damage is in a digit of the format, or in the seal's name.
  for (const auto& [from, to] : {std::pair{"\"format\": 3", "\"format\": 2"}, {"\"sha256\": \"", "\"sha257\": \""}}) {
    std::string changed = whole;
    changed.replace(changed.rfind(from), std::string(from).size(), to);
    write_plainly(path / "checkpoint.json", changed);
    EXPECT_THAT(message_of([&] { load_checkpoint(path); }),
                HasSubstr("is damaged: the sha256 in checkpoint.json is not that of its contents"));
  }
}

TEST_F(CheckpointTest, RefusesTheStepOfAnother) {
  save_checkpoint(folder_, sample(10), 1);
  std::filesystem::rename(checkpoints() / "step-00000010", checkpoints() / "step-00000011");
  EXPECT_THAT(message_of([&] { load_checkpoint(checkpoints() / "step-00000011"); }),
              HasSubstr("is damaged: checkpoint.json says step 10"));
  std::filesystem::rename(checkpoints() / "step-00000011", checkpoints() / "best");
  expect_equal(load_checkpoint(checkpoints() / "best"), sample(10));
  // A checkpoint of version 0.1 has no seal, but its tensors hold the step.
  auto description = nlohmann::ordered_json::parse(read_file(checkpoints() / "best" / "checkpoint.json"));
  description["format"] = 2;
  description["step"] = 11;
  for (const char* key : {"held_out_sample", "data_sha256", "sha256"}) description.erase(key);
  write_plainly(checkpoints() / "best" / "checkpoint.json", description.dump());
  EXPECT_THAT(message_of([&] { load_checkpoint(checkpoints() / "best"); }),
              HasSubstr("model.safetensors is of step 10, and checkpoint.json says step 11"));
}

TEST_F(CheckpointTest, WhatCannotBeRemovedIsAWarning) {
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  const std::string text = in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return std::string("no other user");
    std::string warnings;
    const auto warn = [&](const std::string& warning) { warnings += warning + "\n"; };
    save_checkpoint(folder_, sample(10), 1, warn);
    std::filesystem::permissions(checkpoints() / "step-00000010", std::filesystem::perms::owner_read);
    save_checkpoint(folder_, sample(20), 1, warn);
    const bool is_kept = has_leftovers(folder_);
    std::filesystem::permissions(checkpoints() / ".tmp-step-00000010", std::filesystem::perms::owner_all);
    remove_leftovers(folder_, warn);
    return warnings + (is_kept && !has_leftovers(folder_) ? "kept, then removed" : "");
  });
  EXPECT_THAT(text, StartsWith("an old checkpoint stays: cannot remove "));
  EXPECT_THAT(text, EndsWith("\nkept, then removed"));
  EXPECT_EQ(names(), "step-00000020");
}

TEST_F(CheckpointTest, RefusesEvaluationsThatAreNone) {
  const auto path = save_checkpoint(folder_, sample(10), 1);
  const auto intact = nlohmann::ordered_json::parse(read_file(path / "checkpoint.json"));
  for (const char* field : {"step", "loss_q16", "tokens"}) {
    auto description = intact;
    description["evaluations"][1].erase(field);
    write_plainly(path / "checkpoint.json", sealed(description).dump());
    EXPECT_THAT(message_of([&] { load_checkpoint(path); }),
                HasSubstr("is damaged: checkpoint.json: key '" + std::string(field) + "' not found"));
  }
}

// The file is a sound one and is listed with the right sha256, but it does not hold a checkpoint's tensors.
TEST_F(CheckpointTest, RefusesTensorsThatAreNoCheckpoint) {
  const auto path = save_checkpoint(folder_, sample(10), 1);
  const std::string intact = read_file(path / "checkpoint.json");
  const auto message_with = [&](const std::string& name, const std::string& bytes) {
    const std::string before = read_file(path / name);
    auto description = nlohmann::ordered_json::parse(intact);
    description["files"][name] = {{"bytes", bytes.size()}, {"sha256", sha256_hex(bytes)}};
    write_plainly(path / name, bytes);
    write_plainly(path / "checkpoint.json", sealed(description).dump());
    const std::string text = message_of([&] { load_checkpoint(path); });
    write_plainly(path / name, before);
    return text;
  };
  const std::string model = read_file(path / "model.safetensors");
  std::string low = model;
  low.back() = '\x80';
  EXPECT_THAT(message_with("model.safetensors", low),
              HasSubstr("tensor 'a.second' holds -128, expected values from -127 to 127"));
  std::string other = model;
  other.back() = '\x05';
  EXPECT_THAT(message_with("model.safetensors", other),
              HasSubstr("its weights are not those that checkpoint.json names"));
  EXPECT_THAT(message_with("optimizer.safetensors", model),
              HasSubstr("tensor 'z.first' of optimizer.safetensors is not a slot"));
  EXPECT_THAT(message_with("states.safetensors", model), HasSubstr("states.safetensors does not hold one tensor"));
  EXPECT_THAT(message_with("model.safetensors", read_file(path / "optimizer.safetensors")),
              HasSubstr("tensor 'z.first/residual' is not a matrix of type I8"));
  EXPECT_EQ(message_with("states.safetensors", "garbage"),
            (path / "states.safetensors").string() +
                " is not a usable safetensors file: it has 7 bytes, too few for a header; restore it from a copy or "
                "delete it");
}

TEST(RequireSameRunTest, SaysWhichHashDiffersAndTheCure) {
  const RunIdentity run{"a1", "b1", "c1", "d1"};
  const auto message = [&](const RunIdentity& other) {
    return message_of([&] { require_same_run("runs/x/checkpoints/step-00000010", other, run); });
  };
  const std::string head = "checkpoint runs/x/checkpoints/step-00000010 was made with another ";
  EXPECT_EQ(message(run), "");
  EXPECT_EQ(message({"a2", "b2", "c2", "d2"}),
            head +
                "op set or noise (its hash is a2, this run's a1); use the eggroll whose commit the run's record.json "
                "names, or start over in another folder");
  EXPECT_EQ(message({"a1", "b2", "c1", "d2"}),
            head +
                "model program (its hash is b2, this run's b1); use the model settings and plugin that the run's "
                "record.json names, or start over in another folder");
  EXPECT_EQ(message({"a1", "b1", "c2", "d2"}),
            head +
                "update rule (its hash is c2, this run's c1); use the optimizer settings and plugin that the run's "
                "record.json names, or start over in another folder");
  EXPECT_EQ(message({"a1", "b1", "c1", "d2"}),
            head +
                "configuration (its hash is d2, this run's d1); use the run's own config.yaml, or start over in "
                "another folder");
}

// The definition of the digest, spelt out.
TEST(WeightsSha256Test, CoversNamesShapesAndDataInOrder) {
  const std::vector<WeightTensor> weights = {{"w", 2, 1, {1, -1}}, {"v", 1, 1, {127}}};
  const std::string bytes("w\0\x02\0\0\0\x01\0\0\0\x01\xffv\0\x01\0\0\0\x01\0\0\0\x7f", 23);
  EXPECT_EQ(weights_sha256(weights), sha256_hex(bytes));
  EXPECT_NE(weights_sha256({weights[1], weights[0]}), weights_sha256(weights));
  EXPECT_NE(weights_sha256({{"w", 1, 2, {1, -1}}, weights[1]}), weights_sha256(weights));
}

}  // namespace
}  // namespace eggroll
