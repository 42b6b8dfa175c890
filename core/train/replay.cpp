#include "train/replay.h"

#include <fmt/format.h>

#include "train/beginning.h"
#include "train/identity.h"
#include "train/journal.h"
#include "train/session_io.h"

namespace eggroll {

Replayed replay(const Learner& learner, const ConfigNode& config, const RunFolder& folder, uint64_t steps) {
  const std::optional<BeginSettings> begin = begin_settings_of(config);
  const uint64_t origin = begin ? begin->step : 0;
  JournalReader journal(folder.journal(), origin);
  if (journal.config_hash() != hash_in(folder, config) || journal.pairs() != learner.train.population / 2) {
    throw Error(
        fmt::format("the journal {} belongs to another configuration; replay the run folder that it was written in",
                    folder.journal().string()));
  }
  BackendSession session = learner.open_session();
  Replayed result;
  JournalEntry entry;
  std::vector<egg_evaluation> evaluations;
  if (begin) {
    Checkpoint beginning = read_beginning(*begin, folder);
    begin_session(session, learner, beginning);
    evaluations = std::move(beginning.evaluations);
    result.steps = origin;
  }
  if (steps > 0 && steps < origin) {
    throw Error(fmt::format(
        "{} steps are asked for, and this run begins at step {}; replay the run that it goes on from", steps, origin));
  }
  std::optional<Dataset> dataset;
  std::optional<TrainStreams> streams;
  if (learner.has_masks()) {
    dataset.emplace(open_dataset_of(config));
    streams.emplace(train_streams_of(learner, *dataset));
  }
  BatchBuffer batch;
  while ((steps == 0 || result.steps < steps) && journal.next(entry)) {
    if (entry.evaluation) evaluations.push_back(*entry.evaluation);
    if (streams) streams->fill(result.steps, batch);
    learner.update(session, result.steps++, evaluations, entry.fitness, batch);
  }
  if (result.steps < steps) {
    throw Error(fmt::format(
        "the journal {} holds {} steps, expected at least {}; ask for fewer steps, or let the run go on first",
        folder.journal().string(), result.steps, steps));
  }
  result.weights = read_weights(session, *learner.program);
  return result;
}

}  // namespace eggroll
