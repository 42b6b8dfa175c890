#include "train/run_state.h"

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

namespace eggroll {
namespace {

SessionPlan announced_plan(const Learner& learner, const MemberShare& own, const TrainHooks& hooks) {
  SessionPlan plan = learner.plan_session(own);
  if (hooks.planned) hooks.planned(plan);
  return plan;
}

// Begins with the checkpoint that the run keeps of another one.
void begin_from_checkpoint(RunState& run) {
  const Checkpoint beginning = read_beginning(*run.setup.begin, run.folder);
  begin_session(run.session, run.learner, beginning, [&](const std::string& text) { run.warn(text); });
  if (!run.setup.begin->goes_on) return;
  if (!run.setup.begin->evaluations)
    run.warn("the other run's evaluations are left behind, because eval has other settings");
  run.step = beginning.step;
  run.held_out.take_over(beginning.evaluations);
  read_members("the counters of the checkpoint to begin with", kCheckpointCure, [&] {
    run.record.member_tokens = whole(beginning.counters.at("member_tokens"));
    run.record.unique_tokens = whole(beginning.counters.at("unique_tokens"));
  });
}

// If members have no states, and there are no sites, whose errors are in no file, no forward pass is needed to get to
// the end of the journal.
void catch_up(RunState& run) {
  const KnownSteps known =
      steps_known(run.folder, run.identity.config_hash, run.held_out.evaluations(), run.step, run.learner.train.steps,
                  run.origin(), run.setup.dataset.unit, [&](const std::string& text) { run.warn(text); });
  if (run.learner.program->state_bytes() > 0 || !run.learner.sites.empty()) return;
  for (const JournalEntry& entry : known.entries) {
    run.held_out.learn(entry.evaluation);
    run.learner.update(run.session, run.step, run.held_out.evaluations(), entry.fitness,
                       run.members.batch_of_all(run.step));
    ++run.step;
  }
  if (known.entries.empty()) return;
  run.held_out.learn(known.evaluation);
  run.record.member_tokens = known.last.member_tokens;
  run.record.unique_tokens = known.last.unique_tokens;
  run.record.weights_sha256 = weights_sha256(read_weights(run.session, *run.learner.program));
}

// What an earlier process of this run wrote down.
void carry_over_record(RunState& run) {
  if (!is_there(run.folder.record())) return;
  const RunRecord earlier = read_record(run.folder.record());
  run.record.started_utc = earlier.started_utc;
  run.record.resumes = earlier.resumes + 1;
  // They took long. Version 0.2 did not have them.
  if (!earlier.counting_seconds || !earlier.dataset || earlier.dataset->sha256 != run.setup.dataset.sha256) return;
  run.record.baselines = earlier.baselines;
  run.record.counting_seconds = earlier.counting_seconds;
  run.record.overlap = earlier.overlap;
}

// Opens the monitor with the votes of the steps that an earlier process did.
void open_monitor(RunState& run) {
  run.monitor.emplace(
      MonitoredRun{*run.learner.backend, *run.learner.program, run.learner.noise, run.learner.train.population,
                   run.learner.threads, run.learner.voters, run.learner.train.members_per_stream},
      run.setup.dataset);
  JournalReader journal(run.folder.journal(), run.origin());
  JournalEntry entry;
  while (journal.next(entry)) {
    if (entry.step + kVoteSteps >= run.step)
      run.monitor->add_votes(
          {entry.step, entry.fitness, run.learner.vote_stds(entry.fitness), run.members.batch_of_all(entry.step)});
  }
}

// What process 0 writes, cut back to the step.
void open_files(RunState& run) {
  carry_over_record(run);
  remove_leftovers(run.folder.path, run.hooks.warn);
  run.journal.emplace(run.folder.journal(), run.learner.train.population / 2, run.identity.config_hash, run.step,
                      run.origin());
  if (run.setup.monitor.every > 0) open_monitor(run);
  // A line's step counts steps done, and line 0 is the untrained model.
  run.metrics.emplace(run.folder.metrics(), run.fresh ? 0 : run.step + 1, run.origin());
  run.record.metrics_file = run.folder.metrics().filename();
}

void require_same_counters(const RunState& run, const StepRecord& step) {
  const bool are_equal =
      step.member_tokens == run.record.member_tokens && step.unique_tokens == run.record.unique_tokens;
  if (!are_equal) throw run.held_out.disagreement("tokens", run.step);
}

// What an earlier process of this run measured.
void note_metrics(RunState& run) {
  read_members(run.folder.metrics().string(), kMetricsCure, [&] {
    for (const nlohmann::ordered_json& line : read_metrics(run.folder.metrics())) {
      run.newest = step_record_from_json(line, run.setup.dataset.unit);
      run.held_out.require_agreement(run.newest);
      run.note(run.newest);
      if (run.newest.step == run.step) require_same_counters(run, run.newest);
    }
  });
}

}  // namespace

RunState::RunState(Setup& run_setup, const ConfigNode& config, const RunFolder& run_folder,
                   const Invocation& invocation, const TrainHooks& run_hooks, Processes& run_processes)
    : setup(run_setup),
      learner(setup.learner),
      folder(run_folder),
      hooks(run_hooks),
      processes(run_processes),
      identity(identity_of(learner, config, folder)),
      own(member_shares(learner, processes.size())[processes.index()]),
      session_plan(announced_plan(learner, own, hooks)),
      session(learner.open_session(own)),
      members(setup, session, processes),
      updates(setup, session, processes),
      record(processes.is_first() ? new_record(setup, config, invocation, identity, session_plan, processes)
                                  : RunRecord{}),
      held_out(setup, session, members, updates, folder, record) {
  if (record.processes) record.processes->bytes_per_step = members.bytes_per_step();
}

void RunState::warn(const std::string& text) const {
  if (hooks.warn && processes.is_first()) hooks.warn(text);
}

void RunState::note(const StepRecord& done) {
  held_out.note(done);
  if (done.monitor) record.verdicts = Verdicts{done.step, done.monitor->verdicts};
}

void resume(RunState& run) {
  run.processes.barrier();  // process 0 holds the lock of the run: nobody else writes what is read now
  const auto newest = latest_checkpoint(run.folder.path);
  if (newest) {
    const Checkpoint checkpoint = load_checkpoint(*newest);
    require_same_run(*newest, checkpoint.identity, run.identity);
    require_same_data(run.setup, run.folder, checkpoint.data_sha256);
    restore_session(run.session, run.learner, checkpoint);
    run.step = checkpoint.step;
    run.held_out.take_over(checkpoint.evaluations);
    read_members("the counters of " + newest->string(), kCheckpointCure, [&] {
      run.record.member_tokens = whole(checkpoint.counters.at("member_tokens"));
      run.record.unique_tokens = whole(checkpoint.counters.at("unique_tokens"));
      run.seconds_before = checkpoint.counters.at("seconds").get<double>();
    });
    run.record.wall_seconds = run.seconds_before;
    run.record.weights_sha256 = weights_sha256(checkpoint.weights);
  }
  run.fresh = !newest;
  if (run.fresh && run.setup.begin) begin_from_checkpoint(run);
  std::error_code unknown;
  if (run.fresh && std::filesystem::is_regular_file(run.folder.journal(), unknown)) {
    run.warn(fmt::format("{} has a journal and no checkpoint; its steps are done again", run.folder.path.string()));
  }
  if (!run.fresh) catch_up(run);
  run.record.steps = run.step;
  run.processes.barrier();  // all have read the files before process 0 cuts them back to this step
  if (run.processes.is_first()) open_files(run);
  run.processes.barrier();  // it has
  if (!run.fresh) note_metrics(run);
  require_same_start({run.step, run.held_out.evaluations().size(), run.held_out.since_best()}, run.session,
                     *run.learner.program, run.processes);
}

}  // namespace eggroll
