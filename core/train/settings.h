// The host's own sections of a configuration. Their ranges are in config/host_settings.cpp.
#ifndef EGGROLL_TRAIN_SETTINGS_H
#define EGGROLL_TRAIN_SETTINGS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/settings_block.h"
#include "config/tree.h"
#include "eggroll/settings.h"
#include "train/sample.h"

namespace eggroll {

struct TrainSettings {
  uint64_t steps;
  uint32_t population;          // members; even
  uint32_t members_per_stream;  // members to a stream; even, divides population
  uint32_t tokens;              // per member and step
};
// A value that a group perturbs in place of parameters; see egg_site.
struct SiteSettings {
  std::string value;              // its name; "output": what the loss reads
  std::optional<uint32_t> draws;  // none: complete, every row of the matrix
  bool orthogonal;
  int32_t amplitude;
  uint32_t horizon;
  std::optional<int32_t> shift;  // none: so that errors fill their 16 bits
};
// Some of the pairs, and the parameters or values that these pairs alone perturb.
struct PerturbGroup {
  std::vector<std::string> params;  // names, where * stands for any text
  double share;                     // of the population
  std::vector<SiteSettings> sites;
};
// The program of the user's that scores each held-out evaluation; see train/hook.h.
struct HookSettings {
  std::vector<std::string> words;  // the program, found as a shell would, and its arguments
  double seconds;                  // that it may take
  SampleOptions sample;            // of the text that it gets
};
struct EvalSettings {
  uint64_t every;   // steps
  uint64_t tokens;  // held-out tokens of an evaluation on the way
  uint32_t streams;
  uint32_t warmup;  // tokens that each of them reads before those that it scores
  std::optional<HookSettings> hook;
};
struct CheckpointSettings {
  uint64_t every;  // steps
  uint32_t keep;
  std::optional<bool> best;  // whether one is saved after each held-out evaluation that is the best so far; none: if
                             // the run stops by patience
};
// The beginning of a run whose weights are not drawn: see train/beginning.h.
struct BeginSettings {
  std::string from;    // FOLDER@STEP
  bool goes_on;        // from that step, with the optimizer's slots as well
  bool states;         // the members' states are kept
  bool evaluations;    // the other run's evaluations are kept
  uint64_t step;       // the run's first
  std::string sha256;  // of what is taken
};
struct MonitorSettings {
  uint64_t every;  // steps; 0: never
};
// How processes make an update: each of them all of it, or each of them some tensors.
enum class UpdateMethod { kRebuilt, kSharded };
struct ProcessesSettings {
  std::optional<UpdateMethod> update;  // none: the faster one
  uint64_t checksum_every;             // steps
};
// The rules that end a run before its last step; a rule that does not apply is null in the configuration.
struct StopSettings {
  std::optional<double> seconds;     // of wall time, over all its processes
  std::optional<uint64_t> steps;     // done
  std::optional<uint64_t> tokens;    // member tokens
  std::optional<double> bits;        // a held-out evaluation at or below this
  std::optional<uint64_t> patience;  // held-out evaluations in a row without a new best
};

// Each function reads one section, with file and line in any error. train_settings_of() also checks rules between keys.
TrainSettings train_settings_of(const ConfigNode& config);
EvalSettings eval_settings_of(const ConfigNode& config);
CheckpointSettings checkpoint_settings_of(const ConfigNode& config);
MonitorSettings monitor_settings_of(const ConfigNode& config);
ProcessesSettings processes_settings_of(const ConfigNode& config);
StopSettings stop_settings_of(const ConfigNode& config);
// The section `perturb`, which the caller has open.
std::vector<PerturbGroup> read_groups(Settings& settings);
// Nothing if the weights are drawn. Throws Error if with_beginning() has not been called.
std::optional<BeginSettings> begin_settings_of(const ConfigNode& config);

// Top-level keys of a configuration.
extern const std::vector<std::string> kConfigKeys;
// Keys of the sections `model` and `optimizer` that the host reads, not the plugins.
extern const std::vector<std::string> kModelHostKeys;
extern const std::vector<std::string> kOptimizerHostKeys;

// Reads a section with its file and line in any error: body(Settings&) returns what was read.
template <class Body>
auto read_section(const ConfigNode& config, const std::string& section, Body&& body) {
  return SettingsBlock(config, section).read(body);
}

}  // namespace eggroll

#endif
