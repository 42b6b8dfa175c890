#include "train/replay.h"

#include <fmt/format.h>

#include "record/record.h"
#include "system/files.h"
#include "train/beginning.h"
#include "train/identity.h"
#include "train/journal.h"
#include "train/session_io.h"

namespace eggroll {
namespace {

// The rows that a step's tokens read decide masked votes.
void require_data_of(const Dataset& dataset, const RunFolder& folder) {
  RunRecord record;
  try {
    if (is_there(folder.record())) record = read_record(folder.record());
  } catch (const Error&) {
    return;  // a run is replayed without its record too
  }
  if (!record.dataset || record.dataset->sha256 == dataset.sha256) return;
  throw Error(
      fmt::format("the data are not those of the run in {} (sha256 {}, expected {}), and its votes are masked by "
                  "them; restore the data, then replay it again",
                  folder.path.string(), dataset.sha256, record.dataset->sha256));
}

// No file holds the errors of sites, so they are computed again. Pairs of other groups are evaluated too, for nothing.
void evaluate_sites(const Learner& learner, BackendSession& session, uint64_t step, const BatchBuffer& batch,
                    std::vector<egg_site_sums>& sums) {
  std::vector<int64_t> losses(learner.train.population);
  std::fill(sums.begin(), sums.end(), egg_site_sums{});
  session.evaluate({sizeof(egg_evaluate), learner.train.members_per_stream, step, 0, learner.train.population,
                    batch.view(), losses.data(), nullptr, sums.data()});
}

}  // namespace

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
  if (learner.has_masks() || !learner.sites.empty()) {
    dataset.emplace(open_dataset_of(config));
    require_data_of(*dataset, folder);
    streams.emplace(train_streams_of(learner, *dataset));
  }
  BatchBuffer batch;
  std::vector<egg_site_sums> sums(learner.sites.size());
  while ((steps == 0 || result.steps < steps) && journal.next(entry)) {
    if (entry.evaluation) evaluations.push_back(*entry.evaluation);
    if (streams) streams->fill(result.steps, batch);
    if (!sums.empty()) evaluate_sites(learner, session, result.steps, batch, sums);
    learner.update(session, result.steps++, evaluations, entry.fitness, batch, {}, sums);
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
