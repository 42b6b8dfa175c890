#include "train/checkpoint.h"

#include <gmock/gmock.h>

#include <utility>

#include "record/checkpoint_samples.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CheckpointTest, LoadsWhatItSaved) {
  const auto path = save_checkpoint(folder_, sample(800), 3);
  EXPECT_EQ(path, checkpoints() / "step-00000800");
  EXPECT_EQ(names(), "step-00000800");
  EXPECT_EQ(entries_in(path), 4U);
  expect_equal(load_checkpoint(path), sample(800));
}

TEST_F(CheckpointTest, LoadsARunWithoutSlotsAndStates) {
  Checkpoint bare = sample(1);
  bare.slots.clear();
  bare.state_bytes = 0;
  bare.states.clear();
  expect_equal(load_checkpoint(save_checkpoint(folder_, bare, 1)), bare);
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
  for (const int format : {2, 4}) {
    description["format"] = format;
    write_plainly(path / "checkpoint.json", description.dump());
    EXPECT_EQ(message_of([&] { load_checkpoint(path); }),
              path.string() + " has checkpoint format " + std::to_string(format) +
                  ", this eggroll reads format 3; use the eggroll that wrote it");
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
  const auto message_with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.rfind(from), from.size(), to);
    write_plainly(path / "checkpoint.json", changed);
    return message_of([&] { load_checkpoint(path); });
  };
  EXPECT_THAT(message_with("\"step\": 10", "\"step\": 11"),
              HasSubstr("is damaged: the sha256 in checkpoint.json is not that of its contents; delete that folder"));
  EXPECT_THAT(message_with("\"sha256\": \"", "\"sha257\": \""),
              HasSubstr("is damaged: checkpoint.json lacks its sha256; delete that folder"));
}

// Its evaluations would be of other tokens than those of the run that goes on from it.
TEST_F(CheckpointTest, RefusesAnotherSample) {
  const auto path = save_checkpoint(folder_, sample(10), 1);
  auto description = nlohmann::ordered_json::parse(read_file(path / "checkpoint.json"));
  description["held_out_sample"] = "prefix";
  write_plainly(path / "checkpoint.json", sealed(description).dump());
  EXPECT_THAT(message_of([&] { load_checkpoint(path); }),
              HasSubstr("is damaged: checkpoint.json names the held-out sample 'prefix'; delete that folder"));
}

TEST_F(CheckpointTest, RefusesTheStepOfAnother) {
  save_checkpoint(folder_, sample(10), 1);
  std::filesystem::rename(checkpoints() / "step-00000010", checkpoints() / "step-00000011");
  EXPECT_THAT(message_of([&] { load_checkpoint(checkpoints() / "step-00000011"); }),
              HasSubstr("is damaged: checkpoint.json says step 10"));
  std::filesystem::rename(checkpoints() / "step-00000011", checkpoints() / "best");
  expect_equal(load_checkpoint(checkpoints() / "best"), sample(10));
  // The tensors hold the step too.
  auto description = nlohmann::ordered_json::parse(read_file(checkpoints() / "best" / "checkpoint.json"));
  description["step"] = 11;
  write_plainly(checkpoints() / "best" / "checkpoint.json", sealed(description).dump());
  EXPECT_THAT(message_of([&] { load_checkpoint(checkpoints() / "best"); }),
              HasSubstr("model.safetensors is of step 10, and checkpoint.json says step 11"));
}

TEST_F(CheckpointTest, RefusesEvaluationsThatAreNone) {
  const auto path = save_checkpoint(folder_, sample(10), 1);
  const auto intact = nlohmann::ordered_json::parse(read_file(path / "checkpoint.json"));
  for (const char* field : {"step", "loss_q16", "tokens"}) {
    auto description = intact;
    description["evaluations"][1].erase(field);
    write_plainly(path / "checkpoint.json", sealed(description).dump());
    EXPECT_THAT(message_of([&] { load_checkpoint(path); }),
                HasSubstr("is damaged: checkpoint.json: evaluations: key '" + std::string(field) + "' not found"));
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
