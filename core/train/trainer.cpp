#include "train/trainer.h"

#include <fmt/format.h>

#include <future>
#include <numeric>
#include <utility>

#include "record/curve.h"
#include "record/metrics.h"
#include "record/sentence.h"
#include "train/checkpoint.h"
#include "train/clock.h"
#include "train/hook.h"
#include "train/kept_checkpoints.h"
#include "train/members.h"
#include "train/replicas.h"
#include "train/run_state.h"
#include "train/sample.h"
#include "train/session_io.h"
#include "train/text_measurement.h"
#include "train/voted_weights.h"

namespace eggroll {
namespace {

class TrainingLoop {
 public:
  // run: not resumed yet. began: when the work on the run began.
  TrainingLoop(RunState& run, Clock::time_point began) : run_(run), began_(began), voted_weights_(run.learner) {}

  RunRecord run() {
    resume(run_);
    seconds_ = run_.seconds_before;
    put_record();
    if (run_.processes.is_first()) {
      text_.emplace(run_.setup.dataset, run_.folder, run_.record, [this](const std::string& text) { run_.warn(text); });
    }
    try {
      loop();
      finish();
    } catch (...) {
      run_.record.status = RunStatus::kFailed;
      run_.record.final.reset();
      if (run_.record.average) run_.record.average->final.reset();
      run_.record.error = sentence_of_exception();
      run_.record.ended_utc = utc_now();
      run_.record.wall_seconds = run_.seconds_before + seconds_since(began_);
      try {
        write_line();
        summarize();
        put_record();
      } catch (const Error&) {
        // If the disk failed the run, it may fail the record too. The first error is the one that matters.
      }
      throw;
    }
    return run_.record;
  }

 private:
  StepRecord begin_step_record() const {
    StepRecord step;
    step.step = run_.step;
    step.member_tokens = run_.record.member_tokens;
    step.unique_tokens = run_.record.unique_tokens;
    return step;
  }

  // Where the hook fails, the run is saved before it ends: it goes on from here, and asks the hook again.
  void put(StepRecord step) {
    const std::string failure = ask_hook_of(step);
    run_.note(step);
    write_line();
    // The next step's update, save() or put() writes this line.
    const bool waits = step.figures && !step.held_out && !step.final && !step.monitor && writes_beside_update();
    unwritten_ = step;
    if (!waits) write_line();
    run_.newest = std::move(step);
    if (failure.empty()) return;
    save();
    run_.processes.fail_together(failure);
  }

  // Writes the line that put() has held back, if there is one.
  void write_line() {
    const std::optional<StepRecord> step = std::exchange(unwritten_, std::nullopt);  // tried once, if it fails
    if (run_.metrics && step) run_.metrics->append(to_json(*step));
  }

  // The sentence of a hook that failed, on all processes; process 0 asks it. A signal ends a hook too, and the run,
  // which asks again when it goes on; a run that ends in any case waits for its numbers.
  std::string ask_hook_of(StepRecord& step) {
    const std::optional<HookSettings>& hook = run_.setup.eval.hook;
    if (!hook || !step.held_out) return "";
    std::string failure;
    if (run_.processes.is_first()) {
      try {
        step.hook =
            ask_hook(*hook, run_.setup, run_.folder, run_.session, step, step.final ? nullptr : run_.hooks.stop);
      } catch (const Error& error) {
        failure = error.what();
      }
    }
    one_was_signalled_ = run_.processes.broadcast(failure.empty() && !step.hook) || one_was_signalled_;
    return run_.processes.broadcast(failure);
  }

  // The newest evaluation has no numbers where its hook failed, or where the run had none yet.
  void make_up_for_hook() {
    if (run_.newest.step != run_.step || run_.newest.hook) return;
    StepRecord step = run_.newest;
    const std::string failure = ask_hook_of(step);
    if (!failure.empty()) run_.processes.fail_together(failure);
    if (!run_.metrics || !step.hook) return;
    add_to_last_line(run_.folder.metrics(), metric::kHook, to_json(*step.hook));
    run_.metrics.emplace(run_.folder.metrics(), run_.step + 1, run_.origin());
  }

  // A fork evaluates its first step in any case. Schedules follow that only where a run that did not stop would have.
  void measure_first() {
    StepRecord step = begin_step_record();
    run_.held_out.add_to_curve(step, false, run_.step % run_.setup.eval.every == 0);
    put(std::move(step));
  }

  void put_record() {
    if (!run_.processes.is_first()) return;
    if (run_.record.processes) run_.record.processes->update = run_.updates.record();
    write_record(run_.folder.record(), run_.record);
  }

  void loop() {
    if (run_.fresh) {
      measure_first();
      if (keeps_best() && run_.step < run_.learner.train.steps) save();  // the best so far
    } else {
      make_up_for_hook();
    }
    const uint64_t first = run_.step;
    while (run_.step < run_.learner.train.steps && !stopped() && !find_stop_reason()) {
      one_step();
      if (text_) text_->take();
      report(first);
      const bool due = run_.step % run_.setup.checkpoint.every == 0 || run_.step == run_.learner.train.steps;
      if (due || (keeps_best() && run_.held_out.is_best(run_.step))) save();
    }
    const bool on_best = ends_on_best();
    if (run_.record.stopped_because && !on_best) measure_end();
    if (run_.step < run_.learner.train.steps) save();
    if (on_best) end_on_best();
  }

  bool keeps_best() const { return run_.setup.checkpoint.best.value_or(run_.setup.stop.patience.has_value()); }

  // Before a step: whether one of the stop rules holds, which the record then names.
  bool find_stop_reason() {
    const StopSettings& stop = run_.setup.stop;
    if (stop.steps && run_.step >= *stop.steps) {
      run_.record.stopped_because = fmt::format("stop.steps is {} and {} steps were done", *stop.steps, run_.step);
    } else if (stop.tokens && run_.newest.member_tokens >= *stop.tokens) {
      run_.record.stopped_because =
          fmt::format("stop.tokens is {} and {} member tokens were read", *stop.tokens, run_.newest.member_tokens);
    } else if (stop.bits && run_.record.newest && run_.record.newest->bits_per_unit <= *stop.bits) {
      run_.record.stopped_because =
          fmt::format("stop.bits is {} and held-out bits are {:.4f}", *stop.bits, run_.record.newest->bits_per_unit);
    } else if (stop.patience && run_.held_out.since_best() >= *stop.patience) {
      run_.record.stopped_because = fmt::format("stop.patience is {} and the best evaluation was at step {}",
                                                *stop.patience, run_.record.best->step);
      out_of_patience_ = true;
    } else if (stop.seconds && seconds_ >= *stop.seconds) {
      run_.record.stopped_because =
          fmt::format("stop.seconds is {} and the run took {:.1f} s", *stop.seconds, seconds_);
    }
    return run_.record.stopped_because.has_value();
  }

  // The last step has one more record.
  void measure_end() {
    StepRecord step = begin_step_record();
    run_.held_out.add_end(step);
    put(std::move(step));
  }

  // Whether the run ends with the weights of its best evaluation, which need not have been saved: it may have begun
  // without patience.
  bool ends_on_best() {
    if (!out_of_patience_ || !keeps_best()) return false;
    const auto best = run_.processes.is_first() ? best_checkpoint(run_.folder.path) : std::nullopt;
    return run_.processes.broadcast(best && best->step == run_.record.best->step);
  }

  // The newest checkpoint stays that of the last step, from which the run goes on where it has other stop rules.
  void end_on_best() {
    run_.processes.barrier();  // process 0 has saved
    const std::filesystem::path folder = checkpoint_after(run_.folder.path, run_.record.best->step);
    const Checkpoint best = load_checkpoint(folder);
    require_same_run(folder, best.identity, run_.identity);
    restore_session(run_.session, run_.learner, best);
    StepRecord step;
    step.step = best.step;
    run_.held_out.add_final(step);
    run_.held_out.note(step);
    run_.record.weights_sha256 = weights_sha256(best.weights);
    *run_.record.stopped_because +=
        fmt::format("; after {} steps the run ended with the weights of step {}", run_.step, best.step);
  }

  bool signalled() const { return run_.hooks.stop != nullptr && run_.hooks.stop->load(); }

  // All processes stop after the same step: the one in which they learn that one of them was signalled.
  bool stopped() const { return run_.processes.alone() ? signalled() : one_was_signalled_; }

  const Scores& score() {
    StepMessage message{run_.seconds_before + seconds_since(began_), 0, signalled()};
    if (!run_.processes.alone() && run_.step % run_.setup.processes.checksum_every == 0) {
      message.weights = weights_checksum(run_.session, *run_.learner.program);
    }
    const Scores& scores = run_.members.score(run_.step, message);
    seconds_ = scores.messages[0].seconds;
    std::vector<uint64_t> checksums;
    for (const StepMessage& each : scores.messages) {
      one_was_signalled_ = one_was_signalled_ || each.wants_end;
      checksums.push_back(each.weights);
    }
    require_equal_weights(checksums, run_.step, run_.session, *run_.learner.program, run_.processes);
    return scores;
  }

  void one_step() {
    const TrainSettings& train = run_.learner.train;
    const auto began = Clock::now();
    const Scores& scores = score();
    const std::vector<int8_t>& fitness = scores.fitness;
    const BatchBuffer& batch = run_.members.batch_of_all(run_.step);
    const auto scored = Clock::now();
    BesideUpdate noted(begin_beside_update(fitness, batch));
    const Update made = run_.updates.make(run_.step, run_.held_out.evaluations(), fitness, batch, scores.sites);
    noted.end();
    const double update_seconds = seconds_since(scored);
    if (run_.monitor) run_.monitor->add_votes({run_.step, fitness, made.vote_stds, batch});

    run_.record.unique_tokens += scores.scored.tokens;
    run_.record.member_tokens += run_.learner.member_tokens(scores.scored.tokens, scores.sites);
    ++run_.step;
    run_.record.steps = run_.step;

    StepRecord step = begin_step_record();
    step.figures = figures_of(scores, made);
    if (!run_.processes.alone()) step.figures->update_seconds = update_seconds;
    step.figures->step_seconds = seconds_since(began);
    const bool last = run_.step == train.steps;
    if (last || run_.step % run_.setup.eval.every == 0) run_.held_out.add_to_curve(step, last);
    if (run_.monitor && (last || run_.step % run_.setup.monitor.every == 0)) {
      step.monitor = run_.monitor->look(run_.session, run_.step, made.changed, cost_of_noise(step));
    }
    put(std::move(step));
  }

  // What the step's members lost beyond the newest held-out evaluation.
  std::optional<double> cost_of_noise(const StepRecord& step) const {
    const std::optional<Evaluation>& held_out = step.held_out ? step.held_out : run_.record.newest;
    if (!held_out) return std::nullopt;
    return step.figures->bits_per_unit - held_out->bits_per_unit;
  }

  // Work beside an update. The destructor waits for its end.
  class BesideUpdate {
   public:
    explicit BesideUpdate(std::future<void> work) : work_(std::move(work)) {}
    BesideUpdate(const BesideUpdate&) = delete;
    BesideUpdate& operator=(const BesideUpdate&) = delete;
    ~BesideUpdate() {
      if (work_.valid()) work_.wait();
    }
    void end() {
      if (work_.valid()) work_.get();
    }

   private:
    std::future<void> work_;
  };

  // Whether the work beside an update takes longer than waking a thread.
  bool writes_beside_update() const {
    const TrainSettings& train = run_.learner.train;
    const uint64_t places = uint64_t{train.population} / train.members_per_stream * train.tokens;
    const uint64_t rows = places * run_.learner.program->indices().size();
    return train.population / 2 + rows >= uint64_t{64} << 10;
  }

  // Puts the fitness of this step into the journal, and counts the weights that have votes. Where that is long, a
  // thread does that beside the update. It also writes the line of the step before and prepares for the next losses.
  std::future<void> begin_beside_update(const std::vector<int8_t>& fitness, const BatchBuffer& batch) {
    const auto append = [this, &fitness, &batch] {
      voted_ = voted_weights_.count(batch, &run_.members.threads());
      if (run_.journal) run_.journal->append(run_.step, run_.held_out.made_after(run_.step), fitness);
    };
    if (writes_beside_update()) {
      return run_.members.begin_beside_update([this, append] {
        write_line();
        append();
        run_.members.expect_losses();
      });
    }
    append();
    return run_.members.begin_beside_update({});
  }

  StepFigures figures_of(const Scores& scores, const Update& made) const {
    StepFigures figures;
    const auto units = static_cast<double>(scores.scored.units * run_.learner.train.members_per_stream);
    figures.bits_per_unit = static_cast<double>(scores.loss) / 65536.0 / units;
    const auto moved = static_cast<double>(std::accumulate(made.changed.begin(), made.changed.end(), int64_t{0}));
    const auto share = [&](uint64_t weights) { return weights == 0 ? 0.0 : moved / static_cast<double>(weights); };
    figures.changed = share(voted_weights_.perturbed());
    figures.changed_of_voted = share(voted_);
    figures.pairs_without_fitness = pairs_without(scores.fitness) - run_.learner.pairs_of_sites();
    for (size_t i = 0; i < made.scalars.size(); ++i) {
      figures.scalars.emplace_back(run_.learner.rule->scalar_names()[i], made.scalars[i]);
    }
    figures.forward_seconds = scores.forward_seconds;
    if (!run_.processes.alone()) figures.gather_seconds = scores.gather_seconds;
    return figures;
  }

  void report(uint64_t first) const {
    if (!run_.hooks.progress) return;
    const double seconds = seconds_since(started_);
    const auto done = static_cast<double>(run_.step - first);
    const std::optional<Evaluation> average = run_.record.average ? run_.record.average->newest : std::nullopt;
    run_.hooks.progress({run_.newest, run_.learner.train.steps, run_.record.newest, average,
                         done * run_.learner.train.population * run_.learner.train.tokens / seconds,
                         seconds / done * static_cast<double>(run_.learner.train.steps - run_.step),
                         run_.setup.dataset.unit});
  }

  // The weights of all processes are compared first, because all processes go on from what is saved. If the data have
  // changed, this throws before it saves, and the checkpoint before stays good.
  void save() {
    run_.setup.dataset.require_unchanged();
    require_equal_weights(run_.step, run_.session, *run_.learner.program, run_.processes);
    const std::vector<int8_t> states = run_.members.states();
    run_.updates.share_slots();
    if (!run_.processes.is_first()) return;
    write_line();
    run_.metrics->flush();
    run_.journal->flush();
    run_.record.wall_seconds = run_.seconds_before + seconds_since(began_);
    CheckpointFacts facts;
    facts.step = run_.step;
    facts.identity = run_.identity;
    facts.population = run_.learner.train.population;
    facts.state_bytes = run_.learner.program->state_bytes();
    facts.evaluations = run_.held_out.evaluations();
    facts.data_sha256 = run_.setup.dataset.sha256;
    facts.counters = {{"member_tokens", run_.record.member_tokens},
                      {"unique_tokens", run_.record.unique_tokens},
                      {"seconds", run_.record.wall_seconds}};
    const SessionTensors tensors(run_.session, run_.learner, states, run_.step);
    run_.record.weights_sha256 =
        save_checkpoint(run_.folder.path, facts, tensors.tensors(), run_.setup.checkpoint.keep, run_.hooks.warn)
            .weights_sha256;
    put_record();
  }

  void finish() {
    run_.setup.dataset.require_unchanged();
    run_.record.status = run_.step == run_.learner.train.steps ? RunStatus::kCompleted
                         : run_.record.stopped_because         ? RunStatus::kStopped
                                                               : RunStatus::kInterrupted;
    run_.record.ended_utc = utc_now();
    if (!run_.processes.is_first()) return;
    if (run_.record.status != RunStatus::kInterrupted) {
      text_->wait(run_.hooks.stop);
      draw_curve();
      if (run_.setup.dataset.unit == "byte") write_samples();
    }
    summarize();
    run_.record.wall_seconds = run_.seconds_before + seconds_since(began_);
    put_record();
  }

  void summarize() {
    if (run_.metrics) run_.record.summary = summarize_metrics(run_.folder.metrics());
  }

  void draw_curve() {
    try {
      draw_learning_curve(run_.folder.metrics(),
                          Curve{run_.record.name, run_.setup.dataset.unit, run_.record.baselines}, run_.folder.curve());
      run_.record.curve_file = run_.folder.curve().filename();
    } catch (const Error& error) {
      run_.warn(error.what());
    }
  }

  // What the model writes after the first held-out tokens.
  void write_samples() {
    const std::vector<uint32_t> prompt = held_out_prompt(run_.setup.dataset);
    const auto& own = run_.setup.dataset.vocabulary;
    const Vocabulary& vocabulary = own ? *own : Vocabulary::of_bytes();
    const std::vector<uint32_t> made = sample(run_.session, *run_.learner.program, prompt, SampleOptions{});
    write_atomically(run_.folder.samples(), vocabulary.text(prompt) + vocabulary.text(made) + "\n");
    run_.record.samples_file = run_.folder.samples().filename();
  }

  RunState& run_;
  Clock::time_point began_;
  VotedWeights voted_weights_;
  uint64_t voted_ = 0;    // weights that have votes in this step
  double seconds_ = 0.0;  // of the run, as all processes know it
  bool one_was_signalled_ = false;
  bool out_of_patience_ = false;
  std::optional<TextMeasurement> text_;       // of process 0
  std::optional<StepRecord> unwritten_;       // the newest step's line where it is not in metrics.jsonl yet
  Clock::time_point started_ = Clock::now();  // its steps
};

}  // namespace

RunRecord train(Setup& setup, const ConfigNode& config, const RunFolder& folder, const Invocation& invocation,
                const TrainHooks& hooks, Processes& processes, Clock::time_point began) {
  RunState run(setup, config, folder, invocation, hooks, processes);
  return TrainingLoop(run, began).run();
}

}  // namespace eggroll
