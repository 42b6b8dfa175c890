#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "config/hash.h"
#include "record/fields.h"
#include "record/seal.h"
#include "system/background.h"

namespace eggroll {

void fields(auto& list, Either<egg_evaluation> auto& evaluation) {
  list("step", evaluation.step);
  list("loss_q16", evaluation.loss);
  list("tokens", evaluation.tokens);
}

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kStatesFile = "states.safetensors";
constexpr const char* kDescriptionFile = "checkpoint.json";
// The same fact in every checkpoint, because the sha256 of beginnings includes it.
constexpr const char* kSampleKey = "held_out_sample";
constexpr const char* kSample = "spread";

// The contents of checkpoint.json, in addition to the sizes of the other files.
void facts_in(auto&& list, Either<CheckpointFacts> auto& facts, auto& weights_sha256, auto& sample) {
  list("step", facts.step);
  list("spec_hash", facts.identity.spec_hash);
  list("program_hash", facts.identity.program_hash);
  list("rule_hash", facts.identity.rule_hash);
  list("config_hash", facts.identity.config_hash);
  list("weights_sha256", weights_sha256);
  list("data_sha256", facts.data_sha256);
  list("counters", facts.counters);
  list(kSampleKey, sample);
  list("evaluations", facts.evaluations);
}

template <class T>
std::vector<T> values_of(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}

// Writes one file of tensors; returns its size and sha256 for the description. Each tensor's bytes are digested while
// they are written, by seen too, and the next tensor is read.
ordered_json write_tensors(const fs::path& path, const std::vector<TensorSource>& tensors,
                           const TensorMetadata& metadata,
                           const std::function<void(const TensorHead&, std::string_view)>& seen = {}) {
  const std::string header = safetensors_header({tensors.begin(), tensors.end()}, metadata);
  Sha256 digest;
  uint64_t size = header.size();
  write_atomically(path, [&](const WriteBytes& write) {
    digest.update(header);
    write(header);
    std::string_view coming;
    const auto begin_to_read = [&](size_t i) {
      return i < tensors.size() ? beside([&tensors, &coming, i] { coming = tensors[i].read(); }) : std::future<void>();
    };
    std::future<void> reading = begin_to_read(0);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const TensorSource& tensor = tensors[i];
      reading.get();
      const std::string_view data = coming;
      reading = begin_to_read(i + 1);
      if (data.size() != tensor.bytes()) {
        throw Error(fmt::format("tensor '{}' has {} bytes, expected {} from its shape; report this as a bug",
                                tensor.name, data.size(), tensor.bytes()));
      }
      size += data.size();
      std::vector<std::future<void>> digests;
      digests.push_back(beside([&] { digest.update(data); }));
      if (seen) digests.push_back(beside([&] { seen(tensor, data); }));
      write(data);
      for (const std::future<void>& each : digests) each.wait();
    }
  });
  return {{"bytes", size}, {"sha256", digest.hex()}};
}

class Loader {
 public:
  explicit Loader(const fs::path& folder, const char* cure = kCheckpointCure) : folder_(folder), cure_(cure) {}

  Checkpoint load() {
    return checked([&] {
      Checkpoint checkpoint;
      static_cast<CheckpointFacts&>(checkpoint) = read_facts();
      load_weights(checkpoint);
      load_slots(checkpoint);
      load_states(checkpoint);
      return checkpoint;
    });
  }

  // Leaves out what the tensors say: population and state_bytes.
  CheckpointFacts facts() {
    return checked([&] { return read_facts(); });
  }

  std::string beginning_sha256(bool goes_on) {
    return checked([&] {
      read_facts();
      if (!goes_on) return weights_sha256_;
      nlohmann::json taken;
      for (const char* key : {"step", "evaluations", kSampleKey}) taken[key] = description_.value(key, ordered_json());
      for (const char* key : {"member_tokens", "unique_tokens"}) taken[key] = description_.at("counters").at(key);
      for (const auto& [name, file] : description_.at("files").items()) taken["files"][name] = file.at("sha256");
      return json_hash(std::move(taken), {});
    });
  }

 private:
  template <class Read>
  auto checked(Read&& read) -> decltype(read()) try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("{}: {}", kDescriptionFile, reason_of(error)));
  }

  CheckpointFacts read_facts() {
    const fs::path path = folder_ / kDescriptionFile;
    if (!is_there(path)) fail(fmt::format("{} is missing", kDescriptionFile));
    description_ = parse_json(read_file(path, Links::kRefused), path.string(), cure_);
    if (!description_.is_object()) fail(fmt::format("{} is not a JSON object", kDescriptionFile));
    const ordered_json& format = description_.at("format");
    if (!format.is_number_integer() || format != kCheckpointFormat) {
      throw Error(
          fmt::format("{} has checkpoint format {}, this eggroll reads format {}; use the eggroll that wrote it",
                      folder_.string(), format.dump(), kCheckpointFormat));
    }
    if (const Seal seal = seal_of(description_); seal != Seal::kWhole) {
      fail(seal == Seal::kAbsent ? fmt::format("{} lacks its sha256", kDescriptionFile)
                                 : fmt::format("the sha256 in {} is not that of its contents", kDescriptionFile));
    }
    CheckpointFacts checkpoint;
    std::string sample;
    facts_in(FieldReader(description_), checkpoint, weights_sha256_, sample);
    require_step_in_name(checkpoint.step);
    if (sample != kSample) fail(fmt::format("{} names the held-out sample '{}'", kDescriptionFile, sample));
    return checkpoint;
  }

  // A folder that was copied under a name of another kind may have any step.
  void require_step_in_name(uint64_t step) const {
    const std::string name = folder_.filename().string();
    if (!name.starts_with(kStepPrefix) || name == checkpoint_name(step)) return;
    fail(fmt::format("{} says step {}", kDescriptionFile, step));
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("checkpoint {} is damaged: {}; {}", folder_.string(), reason, cure_));
  }

  // The file's bytes, verified; the tensors that parse_safetensors finds point into them.
  Safetensors read_tensors(const char* name, std::string& bytes) const {
    const ordered_json& listed = description_.at("files").at(name);
    if (!is_there(folder_ / name)) fail(fmt::format("{} is missing", name));
    bytes = read_file(folder_ / name, Links::kRefused);
    const uint64_t size = whole(listed.at("bytes"));
    if (bytes.size() != size) fail(fmt::format("{} has {} bytes, expected {}", name, bytes.size(), size));
    if (listed.at("sha256") != sha256_hex(bytes)) {
      fail(fmt::format("the sha256 of {} is not the one in {}", name, kDescriptionFile));
    }
    Safetensors file = parse_safetensors(bytes, (folder_ / name).string());
    const std::string step = description_.at("step").dump();
    if (file.metadata["step"] != step) {
      fail(fmt::format("{} is of step {}, and {} says step {}", name, file.metadata["step"], kDescriptionFile, step));
    }
    return file;
  }

  std::vector<int8_t> int8_of(const TensorView& tensor) const {
    if (tensor.type != TensorType::kI8 || tensor.shape.size() != 2) {
      fail(fmt::format("tensor '{}' is not a matrix of type I8", tensor.name));
    }
    std::vector<int8_t> values = values_of<int8_t>(tensor.data);
    if (std::find(values.begin(), values.end(), int8_t{-128}) != values.end()) {
      fail(fmt::format("tensor '{}' holds -128, expected values from -127 to 127", tensor.name));
    }
    return values;
  }

  void load_weights(Checkpoint& checkpoint) const {
    std::string bytes;
    for (const TensorView& tensor : read_tensors(kModelFile, bytes).tensors) {
      std::vector<int8_t> values = int8_of(tensor);
      constexpr uint64_t kMaxExtent = std::numeric_limits<int32_t>::max();
      if (tensor.shape[0] > kMaxExtent || tensor.shape[1] > kMaxExtent) {
        fail(fmt::format("tensor '{}' is too large", tensor.name));
      }
      checkpoint.weights.push_back({tensor.name, static_cast<int32_t>(tensor.shape[0]),
                                    static_cast<int32_t>(tensor.shape[1]), std::move(values)});
    }
    if (weights_sha256_ != weights_sha256(checkpoint.weights)) {
      fail(fmt::format("its weights are not those that {} names", kDescriptionFile));
    }
  }

  void load_slots(Checkpoint& checkpoint) const {
    std::string bytes;
    for (const TensorView& tensor : read_tensors(kOptimizerFile, bytes).tensors) {
      const size_t slash = tensor.name.rfind('/');
      if (slash == std::string::npos || tensor.type == TensorType::kI8) {
        fail(fmt::format("tensor '{}' of {} is not a slot", tensor.name, kOptimizerFile));
      }
      checkpoint.slots.push_back({tensor.name.substr(0, slash), tensor.name.substr(slash + 1),
                                  tensor.type == TensorType::kF32 ? 'f' : 'i', values_of<uint32_t>(tensor.data)});
    }
  }

  void load_states(Checkpoint& checkpoint) const {
    std::string bytes;
    const Safetensors file = read_tensors(kStatesFile, bytes);
    if (file.tensors.size() != 1) fail(fmt::format("{} does not hold one tensor", kStatesFile));
    checkpoint.states = int8_of(file.tensors[0]);
    checkpoint.population = file.tensors[0].shape[0];
    checkpoint.state_bytes = file.tensors[0].shape[1];
  }

  const fs::path& folder_;
  const char* cure_;
  ordered_json description_;
  std::string weights_sha256_;
};

}  // namespace

std::string checkpoint_name(uint64_t step) { return fmt::format("{}{:08}", kStepPrefix, step); }

bool is_checkpoint(const fs::path& folder) { return is_there(folder / kDescriptionFile); }

std::string write_checkpoint(const fs::path& folder, const CheckpointFacts& facts, const CheckpointTensors& tensors) {
  const TensorMetadata metadata = {{"format", "eggroll"}, {"step", std::to_string(facts.step)}};
  WeightsDigest weights;
  const ordered_json model =
      write_tensors(folder / kModelFile, tensors.weights, metadata, [&](const TensorHead& tensor, auto data) {
        weights.update(tensor.name, static_cast<int32_t>(tensor.shape[0]), static_cast<int32_t>(tensor.shape[1]), data);
      });
  const ordered_json optimizer = write_tensors(folder / kOptimizerFile, tensors.slots, metadata);
  const ordered_json states = write_tensors(folder / kStatesFile, {tensors.states}, metadata);

  std::string weights_sha256 = weights.hex();
  ordered_json description = {{"format", kCheckpointFormat}};
  facts_in(FieldWriter(description), facts, weights_sha256, kSample);
  description["files"] = {{kModelFile, model}, {kOptimizerFile, optimizer}, {kStatesFile, states}};
  write_atomically(folder / kDescriptionFile, sealed(description).dump(2) + "\n");
  return weights_sha256;
}

Checkpoint load_checkpoint(const fs::path& folder, const char* cure) { return Loader(folder, cure).load(); }

CheckpointFacts read_facts(const fs::path& folder) { return Loader(folder).facts(); }

std::string beginning_sha256(const fs::path& folder, bool goes_on) { return Loader(folder).beginning_sha256(goes_on); }

std::vector<fs::path> checkpoint_files(const fs::path& folder) {
  return {folder / kModelFile, folder / kOptimizerFile, folder / kStatesFile, folder / kDescriptionFile};
}

bool is_same_checkpoint(const fs::path& folder, const fs::path& other) {
  try {
    load_checkpoint(folder);
  } catch (const Error&) {
    return false;
  }
  const auto files = [](const fs::path& path) {
    return read_json(path / kDescriptionFile, kCheckpointCure, UINT64_MAX).at("files");
  };
  return files(folder) == files(other);
}

void require_same_run(const fs::path& folder, const RunIdentity& checkpoint, const RunIdentity& run) {
  const auto require_equal = [&](const std::string& what, const std::string& theirs, const std::string& ours,
                                 const std::string& cure) {
    if (theirs == ours) return;
    throw Error(fmt::format("checkpoint {} was made with another {} (its hash is {}, this run's {}); {}",
                            folder.string(), what, theirs, ours, cure));
  };
  require_equal("op set or noise", checkpoint.spec_hash, run.spec_hash,
                "use the eggroll whose commit the run's record.json names, or start over in another folder");
  require_equal("model program", checkpoint.program_hash, run.program_hash,
                "use the model settings and plugin that the run's record.json names, or start over in another folder");
  require_equal(
      "update rule", checkpoint.rule_hash, run.rule_hash,
      "use the optimizer settings and plugin that the run's record.json names, or start over in another folder");
  require_equal("configuration", checkpoint.config_hash, run.config_hash,
                "use the run's own config.yaml, or start over in another folder");
}

void WeightsDigest::update(const std::string& name, int32_t rows, int32_t cols, std::string_view data) {
  digest_.update(std::string_view(name.c_str(), name.size() + 1));
  digest_.update(bytes_of(std::vector<int32_t>{rows, cols}));
  digest_.update(data);
}

std::string weights_sha256(const std::vector<WeightTensor>& weights) {
  WeightsDigest digest;
  for (const WeightTensor& weight : weights)
    digest.update(weight.name, weight.rows, weight.cols, bytes_of(weight.data));
  return digest.hex();
}

}  // namespace eggroll
