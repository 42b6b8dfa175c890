// Runs the unperturbed model on a small, fixed batch of held-out tokens and reads its int8 values.
#ifndef EGGROLL_MONITOR_PROBE_H
#define EGGROLL_MONITOR_PROBE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "data/streams.h"
#include "monitor/probe_program.h"
#include "plugin/instance.h"
#include "program/rule.h"

namespace eggroll {

// Enough samples to see shares of a per cent in a value of a few channels; a look costs little compared with a step.
inline constexpr uint32_t kProbeStreams = 16;
inline constexpr uint32_t kProbeTokens = 16;  // of a stream; fewer where the model's context is shorter

using ModelWeights = std::vector<std::vector<int8_t>>;  // by parameter

class Probe {
 public:
  // Opens a session of its own. The model must outlive it. threads, noise: the run's.
  Probe(const BackendInstance& backend, const Program& model, const egg_noise& noise, int32_t threads,
        const Dataset& dataset);

  // By value of the model's program: (samples, size), empty if the value is wide.
  std::vector<std::vector<int8_t>> values(const ModelWeights& weights);

  // A sample is a token of a stream; the samples of a stream are consecutive. By sample: the first sample that it sees.
  const std::vector<size_t>& first_visible() const { return first_visible_; }

 private:
  // The first `count` tokens of each stream.
  BatchBuffer prefix(uint32_t count) const;

  ProbeProgram program_;
  Rule rule_;
  BackendSession session_;
  BatchBuffer batch_;
  std::vector<size_t> first_sample_;  // by stream, and their number
  std::vector<size_t> first_visible_;
  size_t value_count_;
};

}  // namespace eggroll

#endif
