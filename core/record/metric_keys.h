// The keys of a line of metrics.jsonl; record/metrics.h describes the file. Whoever writes or reads a line takes its
// keys from here.
#ifndef EGGROLL_RECORD_METRIC_KEYS_H
#define EGGROLL_RECORD_METRIC_KEYS_H

namespace eggroll {

namespace metric {

inline constexpr const char* kSchema = "schema";  // of the file; in its first line alone

// In every line.
inline constexpr const char* kStep = "step";                   // steps done
inline constexpr const char* kMemberTokens = "member_tokens";  // that all members have read, each on its own
inline constexpr const char* kUniqueTokens = "unique_tokens";  // that all streams have read
inline constexpr const char* kChecksum = "crc";                // record/seal.h

// The results of the step; absent in the line of the untrained model and in that of a stop.
inline constexpr const char* kTrainBits = "train_bits_per_unit";  // mean over the members, with perturbations
inline constexpr const char* kChanged = "changed";  // share of the perturbed parameters' weights that moved
inline constexpr const char* kChangedOfVoted =
    "changed_of_voted";  // of those that had votes: votes.masked leaves rows alone that no member read
inline constexpr const char* kPairsWithoutFitness = "pairs_without_fitness";
inline constexpr const char* kScalars = "scalars";  // an object: the optimizer's scalars by name
inline constexpr const char* kForwardSeconds = "forward_seconds";
inline constexpr const char* kGatherSeconds =
    "gather_seconds";  // where several processes share the run; the next one too
inline constexpr const char* kUpdateSeconds = "update_seconds";
inline constexpr const char* kStepSeconds = "step_seconds";  // without evaluations

// An object: the monitor's look after the step. docs/monitor.md explains its numbers.
inline constexpr const char* kMonitor = "monitor";

// An object: the numbers of the user's hook by name, if the line has an evaluation and the run a hook (eval.hook).
inline constexpr const char* kHook = "hook";
// The prefix of their names in columns and in the metrics of claims: "hook.score".
inline constexpr const char* kHookPrefix = "hook.";

}  // namespace metric

// The keys of an evaluation of the unperturbed model; `bytes` only if the dataset has a vocabulary.
struct EvaluationKeys {
  const char* bits;    // per unit of the dataset
  const char* tokens;  // scored
  const char* bytes;   // that they stand for
};
// Keys of the learning curve: every evaluation reads the same tokens.
inline constexpr EvaluationKeys kHeldOutKeys{"held_out_bits_per_unit", "held_out_tokens", "held_out_bytes"};
// Keys of an evaluation of the whole held-out part, in the last line of a run that has ended.
inline constexpr EvaluationKeys kFinalKeys{"final_bits_per_unit", "final_tokens", "final_bytes"};
// The same keys for the average of the weights, in addition to those of the weights, if a run has an average.
inline constexpr EvaluationKeys kAverageHeldOutKeys{"average_held_out_bits_per_unit", "average_held_out_tokens",
                                                    "average_held_out_bytes"};
inline constexpr EvaluationKeys kAverageFinalKeys{"average_final_bits_per_unit", "average_final_tokens",
                                                  "average_final_bytes"};

// The keys within metric::kMonitor.
namespace monitor_metric {

inline constexpr const char* kVerdicts = "verdicts";
inline constexpr const char* kValues = "values";    // by name of the value
inline constexpr const char* kHeads = "heads";      // by name of the attention's value
inline constexpr const char* kTensors = "tensors";  // by name of the parameter
inline constexpr const char* kVoteSteps = "vote_steps";
inline constexpr const char* kVoteDeviations = "vote_deviations";  // of all tensors together, and of each

// The monitor's numbers for a value, a head or a tensor.
inline constexpr const char* kOp = "op";
inline constexpr const char* kMean = "mean";
inline constexpr const char* kStd = "std";
inline constexpr const char* kEntropyBits = "entropy_bits";
inline constexpr const char* kSaturated = "saturated";
inline constexpr const char* kZeros = "zeros";
inline constexpr const char* kConstant = "constant";
inline constexpr const char* kLargest = "largest";
inline constexpr const char* kMoved = "moved";
inline constexpr const char* kMovedSinceStart = "moved_since_start";
inline constexpr const char* kVotesOverNull = "votes_over_null";

}  // namespace monitor_metric

}  // namespace eggroll

#endif
