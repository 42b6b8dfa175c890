// Brings a run to the first step of a process.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "record/json.h"
#include "system/files.h"
#include "train/beginning.h"
#include "train/catch_up.h"
#include "train/identity.h"
#include "train/kept_checkpoints.h"
#include "train/replicas.h"
#include "train/session_io.h"
#include "train/trainer.h"

namespace eggroll {
namespace {

SessionPlan announced_plan(const Learner& learner, const MemberShare& own, const TrainHooks& hooks) {
  SessionPlan plan = learner.plan_session(own);
  if (hooks.planned) hooks.planned(plan);
  return plan;
}

// Reads the run's counts from a checkpoint, which `what` names. Returns its seconds.
double read_counters(const Checkpoint& checkpoint, const std::string& what, RunRecord& record) {
  double seconds = 0.0;
  read_members("the counters of " + what, kCheckpointCure, [&] {
    record.member_tokens = whole(checkpoint.counters.at("member_tokens"));
    record.unique_tokens = whole(checkpoint.counters.at("unique_tokens"));
    seconds = checkpoint.counters.at("seconds").get<double>();
  });
  return seconds;
}

}  // namespace

TrainingLoop::TrainingLoop(const Setup& setup, const ConfigNode& config, const RunFolder& folder,
                           const Invocation& invocation, const TrainHooks& hooks, Processes& processes,
                           Clock::time_point began)
    : setup_(setup),
      learner_(setup.learner),
      folder_(folder),
      hooks_(hooks),
      processes_(processes),
      began_(began),
      identity_(identity_of(learner_, config, folder)),
      own_(member_shares(learner_, processes.size())[processes.index()]),
      session_plan_(announced_plan(learner_, own_, hooks)),
      session_(learner_.open_session(own_)),
      pipeline_(setup, session_, own_),
      members_(setup, session_, processes, pipeline_),
      updates_(setup, session_, processes),
      record_(processes.is_first() ? new_record(setup, config, invocation, identity_, session_plan_, processes)
                                   : RunRecord{}),
      held_out_(setup, session_, members_, updates_, folder, record_) {
  if (record_.processes) record_.processes->bytes_per_step = members_.bytes_per_step();
}

void TrainingLoop::resume() {
  processes_.barrier();  // process 0 holds the lock of the run: nobody else writes what is read now
  const auto newest = latest_checkpoint(folder_.path);
  fresh_ = !newest;
  std::error_code unknown;
  if (newest) {
    restore(*newest);
    catch_up();
  } else {
    if (setup_.begin) begin_from_checkpoint();
    if (std::filesystem::is_regular_file(folder_.journal(), unknown)) {
      warn(fmt::format("{} has a journal and no checkpoint; its steps are done again", folder_.path.string()));
    }
  }
  record_.steps = step_;
  processes_.barrier();  // all have read the files before process 0 cuts them back to this step
  if (processes_.is_first()) open_files();
  processes_.barrier();  // it has
  if (!fresh_) apply_metrics();
  require_same_start({step_, held_out_.evaluations().size(), held_out_.since_best()}, session_, *learner_.program,
                     processes_);
}

void TrainingLoop::restore(const std::filesystem::path& folder) {
  const Checkpoint checkpoint = load_checkpoint(folder);
  require_same_run(folder, checkpoint.identity, identity_);
  require_same_data(setup_, folder_, checkpoint.data_sha256);
  restore_session(session_, learner_, checkpoint);
  step_ = checkpoint.step;
  held_out_.take_over(checkpoint.evaluations);
  record_.wall_seconds = seconds_before_ = read_counters(checkpoint, folder.string(), record_);
  record_.weights_sha256 = weights_sha256(checkpoint.weights);
}

// Begins with the checkpoint that the run keeps of another one.
void TrainingLoop::begin_from_checkpoint() {
  const Checkpoint beginning = read_beginning(*setup_.begin, folder_);
  begin_session(session_, learner_, beginning, [&](const std::string& text) { warn(text); });
  if (!setup_.begin->goes_on) return;
  if (!setup_.begin->evaluations) {
    warn("the other run's evaluations are left behind, because eval has other settings");
  }
  step_ = beginning.step;
  held_out_.take_over(beginning.evaluations);
  read_counters(beginning, "the checkpoint to begin with", record_);
}

// Without states, and without sites, whose errors are in no file, the end of the journal is reached without a forward
// pass.
void TrainingLoop::catch_up() {
  const KnownSteps known =
      steps_known(folder_, identity_.config_hash, held_out_.evaluations(), step_, learner_.train.steps,
                  setup_.first_step(), setup_.dataset.unit, [&](const std::string& text) { warn(text); });
  if (learner_.program->state_bytes() > 0 || !learner_.sites.empty()) return;
  for (const JournalEntry& entry : known.entries) {
    held_out_.learn(entry.evaluation);
    learner_.update(session_, step_, held_out_.evaluations(), entry.fitness, pipeline_.batch_of_all(step_));
    ++step_;
  }
  if (known.entries.empty()) return;
  held_out_.learn(known.evaluation);
  record_.member_tokens = known.last.member_tokens;
  record_.unique_tokens = known.last.unique_tokens;
  record_.weights_sha256 = weights_sha256(read_weights(session_, *learner_.program));
}

// Opens what process 0 writes, cut back to the step, and reads what an earlier process wrote into the record.
void TrainingLoop::open_files() {
  if (is_there(folder_.record())) {
    const RunRecord earlier = read_record(folder_.record());
    record_.started_utc = earlier.started_utc;
    record_.resumes = earlier.resumes + 1;
    take_text_figures(earlier, record_);  // they took long
  }
  remove_leftovers(folder_.path, hooks_.warn);
  pipeline_.open_files(folder_, identity_.config_hash, step_, fresh_);
  if (setup_.monitor.every > 0) open_monitor();
  record_.metrics_file = folder_.metrics().filename();
}

// Opens the monitor with the votes of the steps that an earlier process did.
void TrainingLoop::open_monitor() {
  monitor_.emplace(MonitoredRun{*learner_.backend, *learner_.program, learner_.noise, learner_.train.population,
                                learner_.threads, learner_.voters, learner_.train.members_per_stream},
                   setup_.dataset);
  JournalReader journal(folder_.journal(), setup_.first_step());
  JournalEntry entry;
  while (journal.next(entry)) {
    if (entry.step + kVoteSteps < step_) continue;
    monitor_->add_votes(
        {entry.step, entry.fitness, learner_.vote_stds(entry.fitness), pipeline_.batch_of_all(entry.step)});
  }
}

// Takes over the measurements of an earlier process of this run.
void TrainingLoop::apply_metrics() {
  read_members(folder_.metrics().string(), kMetricsCure, [&] {
    for (const nlohmann::ordered_json& line : read_metrics(folder_.metrics())) {
      newest_ = step_record_from_json(line, setup_.dataset.unit);
      held_out_.require_agreement(newest_);
      apply(newest_);
      const bool are_equal =
          newest_.member_tokens == record_.member_tokens && newest_.unique_tokens == record_.unique_tokens;
      if (newest_.step == step_ && !are_equal) throw held_out_.disagreement("tokens", step_);
    }
  });
}

}  // namespace eggroll
