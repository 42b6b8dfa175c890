// The input is a checkpoint's folder: a byte, then its four files, each but the last after its size as uint32. An odd
// byte stands for sizes, sha256 and seal that are right, which no mutation finds by chance.
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "fuzz/checkpoint_bytes.h"
#include "fuzz/input.h"
#include "fuzz/outcome.h"
#include "record/seal.h"
#include "support/whole_checkpoint.h"
#include "system/files.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

using namespace eggroll;
using namespace eggroll::test;

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::vector<std::string> parts_of(std::string_view rest) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < kCheckpointFiles.size(); ++i) {
    size_t length = rest.size();
    if (i + 1 < kCheckpointFiles.size()) {
      uint32_t said = 0;
      std::memcpy(&said, rest.data(), std::min(sizeof(said), rest.size()));
      rest.remove_prefix(std::min(sizeof(said), rest.size()));
      length = std::min<size_t>(said, rest.size());
    }
    parts.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return parts;
}

// The digest of a file of weights; empty where it is none.
std::string digest_of_weights(const std::string& bytes) {
  std::vector<WeightTensor> weights;
  try {
    for (const TensorView& tensor : parse_safetensors(bytes, "input").tensors) {
      if (tensor.shape.size() != 2) return "";
      const auto* first = reinterpret_cast<const int8_t*>(tensor.data.data());
      weights.push_back({tensor.name, static_cast<int32_t>(tensor.shape[0]), static_cast<int32_t>(tensor.shape[1]),
                         std::vector<int8_t>(first, first + tensor.data.size())});
    }
  } catch (const Error&) {
    return "";
  }
  return weights_sha256(weights);
}

void mend(std::vector<std::string>& parts) {
  ordered_json description = ordered_json::parse(parts[0], nullptr, false);
  if (!description.is_object()) return;
  ordered_json files = ordered_json::object();
  for (size_t i = 1; i < parts.size(); ++i) {
    files[kCheckpointFiles[i]] = {{"bytes", parts[i].size()}, {"sha256", sha256_hex(parts[i])}};
  }
  description["files"] = files;
  description["weights_sha256"] = digest_of_weights(parts[1]);
  const bool is_sealed = description.contains("sha256");
  parts[0] =
      (is_sealed ? sealed(description) : description).dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

void require_same(const Checkpoint& a, const Checkpoint& b) {
  require(a.step == b.step && a.counters == b.counters, "another step or other counters");
  const auto identity = [](const RunIdentity& i) {
    return i.spec_hash + " " + i.program_hash + " " + i.rule_hash + " " + i.config_hash;
  };
  require(identity(a.identity) == identity(b.identity), "another run's");
  require(weights_sha256(a.weights) == weights_sha256(b.weights), "other weights");
  require(a.population == b.population && a.state_bytes == b.state_bytes && a.states == b.states, "other states");
  require(a.slots.size() == b.slots.size() && a.evaluations.size() == b.evaluations.size(), "other slots, evaluations");
  for (size_t i = 0; i < a.slots.size(); ++i) {
    const SlotTensor& p = a.slots[i];
    const SlotTensor& q = b.slots[i];
    require(p.param == q.param && p.slot == q.slot && p.type == q.type && p.bits == q.bits, "another slot " + p.slot);
  }
  for (size_t i = 0; i < a.evaluations.size(); ++i) {
    const egg_evaluation& p = a.evaluations[i];
    const egg_evaluation& q = b.evaluations[i];
    require(p.step == q.step && p.loss == q.loss && p.tokens == q.tokens, "another evaluation");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const fs::path folder = scratch().path() / "step-00000003";
  const fs::path run = scratch().path() / "run";
  fs::create_directory(folder);
  std::vector<std::string> parts = parts_of(text_of(data, size).substr(1));
  if (data[0] % 2 == 1) mend(parts);
  for (size_t i = 0; i < parts.size(); ++i) {
    scratch().put(folder.filename() / kCheckpointFiles[i], parts[i]);
  }
  std::optional<Checkpoint> checkpoint;
  if (!accepts([&] { checkpoint = load_checkpoint(folder); })) return 0;
  must_accept("what was read and written again", [&] {
    fs::remove_all(run);
    fs::create_directory(run);
    require_same(*checkpoint, load_checkpoint(save_checkpoint(run, *checkpoint, 1)));
  });
  return 0;
}
