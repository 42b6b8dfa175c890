#include "monitor/probe.h"

#include <algorithm>

namespace eggroll {
namespace {

BatchBuffer probe_batch(const Dataset& dataset, const Program& model) {
  const int32_t context = model.view().context;
  const uint32_t tokens = context > 0 ? std::min(kProbeTokens, static_cast<uint32_t>(context)) : kProbeTokens;
  BatchBuffer batch;
  HeldOutStreams(dataset, kProbeStreams, tokens, 0, model.indices()).fill(0, batch);
  return batch;
}

}  // namespace

Probe::Probe(const BackendInstance& backend, const Program& model, const egg_noise& noise, int32_t threads,
             const Dataset& dataset)
    : program_(model),
      rule_(idle_rule()),
      session_(backend.open_session(egg_session_spec{sizeof(egg_session_spec), threads, &program_.program().view(),
                                                     &rule_.view(), noise, 2, 0, 2, 0, nullptr})),
      batch_(probe_batch(dataset, model)),
      value_count_(model.values().size()) {
  for (uint32_t s = 0; s < batch_.streams; ++s) {
    first_sample_.push_back(first_visible_.size());
    size_t first = first_visible_.size();
    for (size_t i = size_t{s} * batch_.tokens; i < (size_t{s} + 1) * batch_.tokens; ++i) {
      if (batch_.targets[i] == EGG_NO_TARGET) break;  // padding after a short stream
      if (batch_.resets[i] != 0) first = first_visible_.size();
      first_visible_.push_back(first);
    }
  }
  first_sample_.push_back(first_visible_.size());
}

BatchBuffer Probe::prefix(uint32_t count) const {
  BatchBuffer batch;
  batch.clear(batch_.streams, count, batch_.indices);
  for (uint32_t s = 0; s < batch_.streams; ++s) {
    for (size_t t = 0; t < count; ++t) {
      const size_t from = size_t{s} * batch_.tokens + t;
      const size_t to = size_t{s} * count + t;
      batch.inputs[to] = batch_.inputs[from];
      batch.targets[to] = batch_.targets[from];
      batch.resets[to] = batch_.resets[from];
      std::copy_n(batch_.rows.data() + from * batch_.indices, batch_.indices, batch.rows.data() + to * batch_.indices);
    }
  }
  return batch;
}

std::vector<std::vector<int8_t>> Probe::values(const ModelWeights& weights) {
  for (uint32_t i = 0; i < weights.size(); ++i) session_.set_weights(i, weights[i].data());
  const size_t samples = first_visible_.size();
  std::vector<std::vector<int8_t>> values(value_count_);
  for (const ProbeProgram::Seen& seen : program_.seen()) values[seen.value].resize(samples * seen.size);

  const size_t bytes = program_.program().state_bytes();
  std::vector<int8_t> states(batch_.streams * bytes);
  std::vector<int64_t> losses(batch_.streams);
  // States hold the values of the last token alone, and a model with a context starts every call at position 0. So each
  // token gets a call from the beginning that ends with it.
  for (uint32_t count = 1; count <= batch_.tokens; ++count) {
    const BatchBuffer batch = prefix(count);
    std::fill(states.begin(), states.end(), int8_t{0});
    session_.infer(egg_infer{sizeof(egg_infer), 0, batch.view(), states.data(), losses.data(), nullptr});
    for (size_t s = 0; s < batch_.streams; ++s) {
      const size_t sample = first_sample_[s] + count - 1;
      if (sample >= first_sample_[s + 1]) continue;
      for (const ProbeProgram::Seen& seen : program_.seen()) {
        std::copy_n(states.begin() + static_cast<ptrdiff_t>(s * bytes + seen.offset), seen.size,
                    values[seen.value].begin() + static_cast<ptrdiff_t>(sample * seen.size));
      }
    }
  }
  return values;
}

}  // namespace eggroll
