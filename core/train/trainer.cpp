#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <numeric>

#include "monitor/monitor.h"
#include "record/curve.h"
#include "record/json.h"
#include "record/metrics.h"
#include "record/sentence.h"
#include "train/beginning.h"
#include "train/catch_up.h"
#include "train/checkpoint.h"
#include "train/clock.h"
#include "train/held_out.h"
#include "train/hook.h"
#include "train/identity.h"
#include "train/journal.h"
#include "train/kept_checkpoints.h"
#include "train/members.h"
#include "train/replicas.h"
#include "train/sample.h"
#include "train/session_io.h"
#include "train/updates.h"

namespace eggroll {
namespace {

class Run {
 public:
  Run(Setup& setup, const ConfigNode& config, const RunFolder& folder, const Invocation& invocation,
      const TrainHooks& hooks, Processes& processes, Clock::time_point began)
      : setup_(setup),
        learner_(setup.learner),
        folder_(folder),
        hooks_(hooks),
        processes_(processes),
        began_(began),
        identity_(identity_of(learner_, config, folder)),
        own_(shares_of(learner_.train.population, learner_.train.members_per_stream,
                       processes.size())[processes.index()]),
        session_plan_(announce()),
        session_(learner_.open_session(own_)),
        members_(setup, session_, processes),
        updates_(setup, session_, processes),
        record_(processes.leads() ? new_record(setup, config, invocation, identity_, session_plan_, processes)
                                  : RunRecord{}),
        held_out_(setup, session_, members_, updates_, folder, record_) {
    if (record_.processes) record_.processes->bytes_per_step = members_.bytes_per_step();
  }

  RunRecord go() {
    resume();
    put_record();
    try {
      loop();
      finish();
    } catch (...) {
      record_.status = RunStatus::kFailed;
      record_.final.reset();
      if (record_.average) record_.average->final.reset();
      record_.error = sentence_of_exception();
      record_.ended_utc = utc_now();
      record_.wall_seconds = seconds_before_ + seconds_since(began_);
      try {
        summarize();
        put_record();
      } catch (const Error&) {
        // If the disk failed the run, it may fail the record too. The first error is the one that matters.
      }
      throw;
    }
    return record_;
  }

 private:
  SessionPlan announce() const {
    SessionPlan plan = learner_.plan_session(own_);
    if (hooks_.planned) hooks_.planned(plan);
    return plan;
  }

  // Goes on from the newest checkpoint and what the journal knows beyond it, or begins.
  void resume() {
    processes_.meet();  // process 0 holds the lock of the run: nobody else writes what is read now
    const auto newest = latest_checkpoint(folder_.path);
    if (newest) {
      const Checkpoint checkpoint = load_checkpoint(*newest);
      require_same_run(*newest, checkpoint.identity, identity_);
      require_same_data(setup_, folder_, checkpoint.data_sha256);
      restore_session(session_, learner_, checkpoint);
      step_ = checkpoint.step;
      held_out_.take_over(checkpoint.evaluations);
      setup_.choose_sample(checkpoint.sample);
      read_members("the counters of " + newest->string(), kCheckpointCure, [&] {
        record_.member_tokens = whole(checkpoint.counters.at("member_tokens"));
        record_.unique_tokens = whole(checkpoint.counters.at("unique_tokens"));
        seconds_before_ = checkpoint.counters.at("seconds").get<double>();
      });
      seconds_ = seconds_before_;
      record_.wall_seconds = seconds_before_;
      record_.weights_sha256 = weights_sha256(checkpoint.weights);
    }
    fresh_ = !newest;
    if (fresh_ && setup_.begin) begin();
    std::error_code unknown;
    if (fresh_ && std::filesystem::is_regular_file(folder_.journal(), unknown)) {
      warn(fmt::format("{} has a journal and no checkpoint; its steps are done again", folder_.path.string()));
    }
    if (!fresh_) catch_up();
    record_.steps = step_;
    processes_.meet();  // all have read the files before process 0 cuts them back to this step
    if (processes_.leads()) open_files();
    processes_.meet();  // it has
    if (!fresh_) note_metrics();
    require_same_start({step_, held_out_.evaluations().size(), held_out_.since_best()}, session_, *learner_.program,
                       processes_);
  }

  // Begins with what the run keeps of another one.
  void begin() {
    const Checkpoint beginning = read_beginning(*setup_.begin, folder_);
    begin_session(session_, learner_, beginning, [&](const std::string& text) { warn(text); });
    if (!setup_.begin->goes_on) return;
    if (!setup_.begin->evaluations)
      warn("the other run's evaluations are left behind, because eval has other settings");
    step_ = beginning.step;
    held_out_.take_over(beginning.evaluations);
    setup_.choose_sample(beginning.sample);
    read_members("the counters of the checkpoint to begin with", kCheckpointCure, [&] {
      record_.member_tokens = whole(beginning.counters.at("member_tokens"));
      record_.unique_tokens = whole(beginning.counters.at("unique_tokens"));
    });
  }

  // The step that the run begins at.
  uint64_t origin() const { return setup_.begin ? setup_.begin->step : 0; }

  // If members have no states, no forward pass is needed to get to the end of the journal.
  void catch_up() {
    const KnownSteps known =
        steps_known(folder_, identity_.config_hash, held_out_.evaluations(), step_, learner_.train.steps, origin(),
                    setup_.dataset.unit, [&](const std::string& text) { warn(text); });
    if (learner_.program->state_bytes() > 0) return;
    for (const JournalEntry& entry : known.entries) {
      held_out_.learn(entry.evaluation);
      learner_.update(session_, step_, held_out_.evaluations(), entry.fitness, members_.batch_of_all(step_));
      ++step_;
    }
    if (known.entries.empty()) return;
    held_out_.learn(known.evaluation);
    record_.member_tokens = known.last.member_tokens;
    record_.unique_tokens = known.last.unique_tokens;
    record_.weights_sha256 = weights_sha256(read_weights(session_, *learner_.program));
  }

  void warn(const std::string& text) const {
    if (hooks_.warn && processes_.leads()) hooks_.warn(text);
  }

  // What process 0 writes, cut back to step_.
  void open_files() {
    carry_over_record();
    remove_leftovers(folder_.path, hooks_.warn);
    journal_.emplace(folder_.journal(), learner_.train.population / 2, identity_.config_hash, step_, origin());
    if (setup_.monitor.every > 0) open_monitor();
    // A line's step counts steps done, and line 0 is the untrained model.
    metrics_.emplace(folder_.metrics(), fresh_ ? 0 : step_ + 1, origin());
    record_.metrics_file = folder_.metrics().filename();
  }

  // Opens the monitor with the votes of the steps that an earlier process did.
  void open_monitor() {
    monitor_.emplace(MonitoredRun{*learner_.backend, *learner_.program, learner_.noise, learner_.train.population,
                                  learner_.threads, learner_.voters, learner_.train.members_per_stream},
                     setup_.dataset);
    JournalReader journal(folder_.journal(), origin());
    JournalEntry entry;
    while (journal.next(entry)) {
      if (entry.step + kVoteSteps >= step_)
        monitor_->add_votes(
            {entry.step, entry.fitness, learner_.vote_stds(entry.fitness), members_.batch_of_all(entry.step)});
    }
  }

  // What an earlier process of this run wrote down.
  void carry_over_record() {
    if (!is_there(folder_.record())) return;
    const RunRecord earlier = read_record(folder_.record());
    record_.started_utc = earlier.started_utc;
    record_.resumes = earlier.resumes + 1;
  }

  StepRecord begin_step_record() const {
    StepRecord step;
    step.step = step_;
    step.member_tokens = record_.member_tokens;
    step.unique_tokens = record_.unique_tokens;
    return step;
  }

  // Where the hook fails, the run is saved before it ends: it goes on from here, and asks the hook again.
  void put(StepRecord step) {
    const std::string failure = ask_hook_of(step);
    note(step);
    if (metrics_) metrics_->append(to_json(step));
    newest_ = std::move(step);
    if (failure.empty()) return;
    save();
    processes_.fail_together(failure);
  }

  // The sentence of a hook that failed, on all processes; process 0 asks it. A signal ends a hook too, and the run,
  // which asks again when it goes on; a run that ends in any case waits for its numbers.
  std::string ask_hook_of(StepRecord& step) {
    const std::optional<HookSettings>& hook = setup_.eval.hook;
    if (!hook || !step.held_out) return "";
    std::string failure;
    if (processes_.leads()) {
      try {
        step.hook = ask_hook(*hook, setup_, folder_, session_, step, step.final ? nullptr : hooks_.stop);
      } catch (const Error& error) {
        failure = error.what();
      }
    }
    one_was_signalled_ = processes_.broadcast(failure.empty() && !step.hook) || one_was_signalled_;
    return processes_.broadcast(failure);
  }

  // The newest evaluation has no numbers where its hook failed, or where the run had none yet.
  void make_up_for_hook() {
    if (newest_.step != step_ || newest_.hook) return;
    StepRecord step = newest_;
    const std::string failure = ask_hook_of(step);
    if (!failure.empty()) processes_.fail_together(failure);
    if (!metrics_ || !step.hook) return;
    add_to_last_line(folder_.metrics(), metric::kHook, to_json(*step.hook));
    metrics_.emplace(folder_.metrics(), step_ + 1, origin());
  }

  // Keeps what the run's record says of its newest step.
  void note(const StepRecord& step) {
    held_out_.note(step);
    if (step.monitor) record_.verdicts = Verdicts{step.step, step.monitor->verdicts};
  }

  // A fork evaluates its first step in any case. Schedules follow that only where a run that did not stop would have.
  void measure_first() {
    StepRecord step = begin_step_record();
    held_out_.add_to_curve(step, false, step_ % setup_.eval.every == 0);
    put(std::move(step));
  }

  void put_record() {
    if (!processes_.leads()) return;
    if (record_.processes) record_.processes->update = updates_.record();
    write_record(folder_.record(), record_);
  }

  void loop() {
    if (fresh_) {
      measure_first();
      if (keeps_best() && step_ < learner_.train.steps) save();  // the best so far
    } else {
      make_up_for_hook();
    }
    const uint64_t first = step_;
    while (step_ < learner_.train.steps && !stopped() && !find_stop_reason()) {
      one_step();
      report(first);
      const bool due = step_ % setup_.checkpoint.every == 0 || step_ == learner_.train.steps;
      if (due || (keeps_best() && held_out_.is_best(step_))) save();
    }
    // Version 0.1 had no final figures of their own.
    const bool ended = step_ == learner_.train.steps || record_.stopped_because;
    const bool on_best = ends_on_best();
    if (ended && !on_best && !record_.final) measure_end();
    if (step_ < learner_.train.steps) save();
    if (on_best) end_on_best();
  }

  bool keeps_best() const { return setup_.checkpoint.best.value_or(setup_.stop.patience.has_value()); }

  // Before a step: whether one of the stop rules holds, which the record then names.
  bool find_stop_reason() {
    const StopSettings& stop = setup_.stop;
    if (stop.steps && step_ >= *stop.steps) {
      record_.stopped_because = fmt::format("stop.steps is {} and {} steps were done", *stop.steps, step_);
    } else if (stop.tokens && newest_.member_tokens >= *stop.tokens) {
      record_.stopped_because =
          fmt::format("stop.tokens is {} and {} member tokens were read", *stop.tokens, newest_.member_tokens);
    } else if (stop.bits && record_.newest && record_.newest->bits_per_unit <= *stop.bits) {
      record_.stopped_because =
          fmt::format("stop.bits is {} and held-out bits are {:.4f}", *stop.bits, record_.newest->bits_per_unit);
    } else if (stop.patience && held_out_.since_best() >= *stop.patience) {
      record_.stopped_because =
          fmt::format("stop.patience is {} and the best evaluation was at step {}", *stop.patience, record_.best->step);
      out_of_patience_ = true;
    } else if (stop.seconds && seconds_ >= *stop.seconds) {
      record_.stopped_because = fmt::format("stop.seconds is {} and the run took {:.1f} s", *stop.seconds, seconds_);
    }
    return record_.stopped_because.has_value();
  }

  // The last step has one more record.
  void measure_end() {
    StepRecord step = begin_step_record();
    held_out_.add_end(step);
    put(std::move(step));
  }

  // Whether the run ends with the weights of its best evaluation, which need not have been saved: it may have begun
  // without patience.
  bool ends_on_best() {
    if (!out_of_patience_ || !keeps_best()) return false;
    const auto best = processes_.leads() ? best_checkpoint(folder_.path) : std::nullopt;
    return processes_.broadcast(best && best->step == record_.best->step);
  }

  // The newest checkpoint stays that of the last step, from which the run goes on where it has other stop rules.
  void end_on_best() {
    processes_.meet();  // process 0 has saved
    const std::filesystem::path folder = checkpoint_after(folder_.path, record_.best->step);
    const Checkpoint best = load_checkpoint(folder);
    require_same_run(folder, best.identity, identity_);
    restore_session(session_, learner_, best);
    StepRecord step;
    step.step = best.step;
    held_out_.add_final(step);
    held_out_.note(step);
    record_.weights_sha256 = weights_sha256(best.weights);
    *record_.stopped_because +=
        fmt::format("; after {} steps the run ended with the weights of step {}", step_, best.step);
  }

  bool signalled() const { return hooks_.stop != nullptr && hooks_.stop->load(); }

  // All processes stop after the same step: the one in which they learn that one of them was signalled.
  bool stopped() const { return processes_.alone() ? signalled() : one_was_signalled_; }

  const Scores& score() {
    Word word{seconds_before_ + seconds_since(began_), 0, signalled()};
    if (!processes_.alone() && step_ % setup_.processes.checksum_every == 0) {
      word.weights = weights_checksum(session_, *learner_.program);
    }
    const Scores& scores = members_.score(step_, word);
    seconds_ = scores.words[0].seconds;
    std::vector<uint64_t> checksums;
    for (const Word& each : scores.words) {
      one_was_signalled_ = one_was_signalled_ || each.wants_end;
      checksums.push_back(each.weights);
    }
    require_equal_weights(checksums, step_, session_, *learner_.program, processes_);
    return scores;
  }

  void one_step() {
    const TrainSettings& train = learner_.train;
    const auto began = Clock::now();
    const Scores& scores = score();
    const std::vector<int8_t>& fitness = scores.fitness;
    const BatchBuffer& batch = members_.batch_of_all(step_);
    const auto scored = Clock::now();
    std::future<void> noted = put_in_journal(fitness);
    const Update made = updates_.make(step_, held_out_.evaluations(), fitness, batch);
    if (noted.valid()) noted.get();
    const double update_seconds = seconds_since(scored);
    if (monitor_) monitor_->add_votes({step_, fitness, made.vote_stds, batch});

    record_.unique_tokens += scores.scored.tokens;
    record_.member_tokens += scores.scored.tokens * train.members_per_stream;
    ++step_;
    record_.steps = step_;

    StepRecord step = begin_step_record();
    step.figures = figures_of(scores, made);
    if (!processes_.alone()) step.figures->update_seconds = update_seconds;
    step.figures->step_seconds = seconds_since(began);
    const bool last = step_ == train.steps;
    if (last || step_ % setup_.eval.every == 0) held_out_.add_to_curve(step, last);
    if (monitor_ && (last || step_ % setup_.monitor.every == 0)) {
      step.monitor = monitor_->look(session_, step_, made.changed);
    }
    put(std::move(step));
  }

  // The fitness of this step; a large one beside the update, which reads it as well.
  std::future<void> put_in_journal(const std::vector<int8_t>& fitness) {
    constexpr size_t kLarge = size_t{64} << 10;  // bytes that take longer than a thread's start
    if (!journal_) return {};
    const auto append = [this, &fitness] { journal_->append(step_, held_out_.made_after(step_), fitness); };
    if (fitness.size() >= kLarge) return members_.beside_backend(append);
    append();
    return {};
  }

  StepFigures figures_of(const Scores& scores, const Update& made) const {
    StepFigures figures;
    const auto units = static_cast<double>(scores.scored.units * learner_.train.members_per_stream);
    figures.bits_per_unit = static_cast<double>(scores.loss) / 65536.0 / units;
    figures.changed = share_changed(made.changed);
    figures.pairs_without_fitness = pairs_without(scores.fitness);
    for (size_t i = 0; i < made.scalars.size(); ++i) {
      figures.scalars.emplace_back(learner_.rule->scalar_names()[i], made.scalars[i]);
    }
    figures.forward_seconds = scores.forward_seconds;
    if (!processes_.alone()) figures.gather_seconds = scores.gather_seconds;
    return figures;
  }

  // The share of the perturbed parameters' weights that has moved.
  double share_changed(const std::vector<int64_t>& changed) const {
    uint64_t weights = 0;
    for (const egg_param& param : learner_.program->params()) weights += param.perturbed != 0 ? weight_count(param) : 0;
    const auto moved = std::accumulate(changed.begin(), changed.end(), int64_t{0});
    return weights == 0 ? 0.0 : static_cast<double>(moved) / static_cast<double>(weights);
  }

  void require_same_counters(const StepRecord& step) const {
    const bool are_equal = step.member_tokens == record_.member_tokens && step.unique_tokens == record_.unique_tokens;
    if (!are_equal) throw held_out_.disagreement("tokens", step_);
  }

  // What an earlier process of this run measured.
  void note_metrics() {
    read_members(folder_.metrics().string(), kMetricsCure, [&] {
      for (const nlohmann::ordered_json& line : read_metrics(folder_.metrics())) {
        newest_ = step_record_from_json(line, setup_.dataset.unit);
        held_out_.require_agreement(newest_);
        note(newest_);
        if (newest_.step == step_) require_same_counters(newest_);
      }
    });
  }

  void report(uint64_t first) const {
    if (!hooks_.progress) return;
    const double seconds = seconds_since(started_);
    const auto done = static_cast<double>(step_ - first);
    const std::optional<Evaluation> average = record_.average ? record_.average->newest : std::nullopt;
    hooks_.progress({newest_, learner_.train.steps, record_.newest, average,
                     done * learner_.train.population * learner_.train.tokens / seconds,
                     seconds / done * static_cast<double>(learner_.train.steps - step_), setup_.dataset.unit});
  }

  // The weights of all processes are compared first, because all processes go on from what is saved. If the data have
  // changed, this throws before it saves, and the checkpoint before stays good.
  void save() {
    setup_.dataset.require_unchanged();
    require_equal_weights(step_, session_, *learner_.program, processes_);
    const std::vector<int8_t> states = members_.states();
    updates_.share_slots();
    if (!processes_.leads()) return;
    metrics_->flush();
    journal_->flush();
    record_.wall_seconds = seconds_before_ + seconds_since(began_);
    CheckpointFacts facts;
    facts.step = step_;
    facts.identity = identity_;
    facts.population = learner_.train.population;
    facts.state_bytes = learner_.program->state_bytes();
    facts.evaluations = held_out_.evaluations();
    facts.sample = setup_.sample;
    facts.data_sha256 = setup_.dataset.sha256;
    facts.counters = {{"member_tokens", record_.member_tokens},
                      {"unique_tokens", record_.unique_tokens},
                      {"seconds", record_.wall_seconds}};
    const SessionTensors tensors(session_, learner_, states, step_);
    record_.weights_sha256 =
        save_checkpoint(folder_.path, facts, tensors.tensors(), setup_.checkpoint.keep, hooks_.warn).weights_sha256;
    put_record();
  }

  void finish() {
    setup_.dataset.require_unchanged();
    record_.status = step_ == learner_.train.steps ? RunStatus::kCompleted
                     : record_.stopped_because     ? RunStatus::kStopped
                                                   : RunStatus::kInterrupted;
    record_.ended_utc = utc_now();
    if (!processes_.leads()) return;
    if (record_.status != RunStatus::kInterrupted) {
      draw_curve();
      if (setup_.dataset.unit == "byte") write_samples();
    }
    summarize();
    record_.wall_seconds = seconds_before_ + seconds_since(began_);
    put_record();
  }

  void summarize() {
    if (metrics_) record_.summary = summarize_metrics(folder_.metrics());
  }

  void draw_curve() {
    try {
      draw_learning_curve(folder_.metrics(), Curve{record_.name, setup_.dataset.unit, record_.baselines},
                          folder_.curve());
      record_.curve_file = folder_.curve().filename();
    } catch (const Error& error) {
      warn(error.what());
    }
  }

  // What the model writes after the first held-out tokens.
  void write_samples() {
    const std::vector<uint32_t> prompt = held_out_prompt(setup_.dataset);
    const auto& own = setup_.dataset.vocabulary;
    const Vocabulary& vocabulary = own ? *own : Vocabulary::of_bytes();
    const std::vector<uint32_t> made = sample(session_, *learner_.program, prompt, SampleOptions{});
    write_atomically(folder_.samples(), vocabulary.text(prompt) + vocabulary.text(made) + "\n");
    record_.samples_file = folder_.samples().filename();
  }

  Setup& setup_;
  Learner& learner_;
  RunFolder folder_;
  const TrainHooks& hooks_;
  Processes& processes_;
  Clock::time_point began_;  // the run, its setup included
  RunIdentity identity_;
  MemberShare own_;
  SessionPlan session_plan_;  // before the session, which takes the memory that the plan finds free
  BackendSession session_;
  Members members_;
  Updates updates_;
  RunRecord record_;
  HeldOutFigures held_out_;
  // Process 0 alone has these, as it alone has the run's files.
  std::optional<Monitor> monitor_;
  std::optional<JournalWriter> journal_;
  std::optional<MetricsFile> metrics_;
  uint64_t step_ = 0;   // steps done
  bool fresh_ = false;  // there was no checkpoint
  StepRecord newest_;
  double seconds_before_ = 0.0;
  double seconds_ = 0.0;  // of the run, as all processes know it
  bool one_was_signalled_ = false;
  bool out_of_patience_ = false;
  Clock::time_point started_ = Clock::now();  // its steps
};

}  // namespace

RunRecord train(Setup& setup, const ConfigNode& config, const RunFolder& folder, const Invocation& invocation,
                const TrainHooks& hooks, Processes& processes, Clock::time_point began) {
  return Run(setup, config, folder, invocation, hooks, processes, began).go();
}

}  // namespace eggroll
