#include "train/trainer.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "record/curve.h"
#include "record/sentence.h"
#include "train/hook.h"
#include "train/kept_checkpoints.h"
#include "train/replicas.h"
#include "train/sample.h"
#include "train/session_io.h"

namespace eggroll {

RunRecord TrainingLoop::run() {
  resume();
  seconds_ = seconds_before_;
  put_record();
  if (processes_.is_first()) {
    text_.emplace(setup_.dataset, folder_, record_, [this](const std::string& text) { warn(text); });
  }
  try {
    loop();
    finish();
  } catch (...) {
    fail();
    throw;
  }
  return record_;
}

// Must be called within the handler of the failure.
void TrainingLoop::fail() {
  record_.status = RunStatus::kFailed;
  record_.final.reset();
  if (record_.average) record_.average->final.reset();
  record_.error = sentence_of_exception();
  record_.ended_utc = utc_now();
  record_.wall_seconds = seconds();
  try {
    pipeline_.end_failed_update();
    if (!processes_.is_first()) return;
    record_.summary = summarize_metrics(folder_.metrics());
    put_record();
  } catch (const Error&) {
    // If the disk failed the run, it may fail the record too. The first error is the one that matters.
  }
}

void TrainingLoop::warn(const std::string& text) const {
  if (hooks_.warn && processes_.is_first()) hooks_.warn(text);
}

// Keeps the record's facts about the newest step.
void TrainingLoop::apply(const StepRecord& step) {
  held_out_.apply(step);
  if (step.monitor) record_.verdicts = Verdicts{step.step, step.monitor->verdicts};
}

StepRecord TrainingLoop::begin_step_record() const {
  StepRecord step;
  step.step = step_;
  step.member_tokens = record_.member_tokens;
  step.unique_tokens = record_.unique_tokens;
  return step;
}

// If the hook fails, the run is saved before it ends: it goes on from here, and asks the hook again.
void TrainingLoop::put(StepRecord step) {
  const std::string failure = ask_hook_of(step);
  apply(step);
  pipeline_.put_line(step);
  newest_ = std::move(step);
  if (failure.empty()) return;
  save();
  processes_.fail_together(failure);
}

// The sentence of a hook that failed, on all processes; process 0 asks it. A signal ends a hook too, and the run,
// which asks again when it goes on; a run that ends in any case waits for its numbers.
std::string TrainingLoop::ask_hook_of(StepRecord& step) {
  const std::optional<HookSettings>& hook = setup_.eval.hook;
  if (!hook || !step.held_out) return "";
  std::string failure;
  if (processes_.is_first()) {
    try {
      step.hook = ask_hook(*hook, setup_, folder_, session_, step, step.final ? nullptr : hooks_.stop);
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  one_was_signalled_ = processes_.broadcast(failure.empty() && !step.hook) || one_was_signalled_;
  return processes_.broadcast(failure);
}

// The newest evaluation has no numbers if its hook failed, or if the run had no hook then.
void TrainingLoop::make_up_for_hook() {
  if (newest_.step != step_ || newest_.hook) return;
  StepRecord step = newest_;
  const std::string failure = ask_hook_of(step);
  if (!failure.empty()) processes_.fail_together(failure);
  if (step.hook) pipeline_.add_to_line(folder_, step_, *step.hook);
}

void TrainingLoop::put_record() {
  if (!processes_.is_first()) return;
  if (record_.processes) record_.processes->update = updates_.record();
  write_record(folder_.record(), record_);
}

void TrainingLoop::loop() {
  if (fresh_) {
    // A fork evaluates its first step in any case. Schedules follow that only where a run that did not stop would have.
    StepRecord step = begin_step_record();
    held_out_.add_to_curve(step, false, step_ % setup_.eval.every == 0);
    put(std::move(step));
    if (keeps_best() && step_ < learner_.train.steps) save();  // the best so far
  } else {
    make_up_for_hook();
  }
  const uint64_t first = step_;
  const Clock::time_point started = Clock::now();
  while (step_ < learner_.train.steps && !stopped()) {
    record_.stopped_because = stop_reason();
    if (record_.stopped_because) break;
    one_step();
    if (text_) text_->take();
    report(step_ - first, seconds_since(started));
    const bool due = step_ % setup_.checkpoint.every == 0 || step_ == learner_.train.steps;
    if (due || (keeps_best() && held_out_.is_best(step_))) save();
  }
  const bool on_best = ends_on_best();
  if (record_.stopped_because && !on_best) {  // the last step has one more record
    StepRecord step = begin_step_record();
    held_out_.add_end(step);
    put(std::move(step));
  }
  if (step_ < learner_.train.steps) save();
  if (on_best) end_on_best();
}

// Before a step: the stop rule that holds, and why.
std::optional<std::string> TrainingLoop::stop_reason() {
  const StopSettings& stop = setup_.stop;
  if (stop.steps && step_ >= *stop.steps) {
    return fmt::format("stop.steps is {} and {} steps were done", *stop.steps, step_);
  }
  if (stop.tokens && newest_.member_tokens >= *stop.tokens) {
    return fmt::format("stop.tokens is {} and {} member tokens were read", *stop.tokens, newest_.member_tokens);
  }
  if (stop.bits && record_.newest && record_.newest->bits_per_unit <= *stop.bits) {
    return fmt::format("stop.bits is {} and held-out bits are {:.4f}", *stop.bits, record_.newest->bits_per_unit);
  }
  if (stop.patience && held_out_.since_best() >= *stop.patience) {
    out_of_patience_ = true;
    return fmt::format("stop.patience is {} and the best evaluation was at step {}", *stop.patience,
                       record_.best->step);
  }
  if (stop.seconds && seconds_ >= *stop.seconds) {
    return fmt::format("stop.seconds is {} and the run took {:.1f} s", *stop.seconds, seconds_);
  }
  return std::nullopt;
}

// Whether the run ends with the weights of its best evaluation, which need not have been saved: it may have begun
// without patience.
bool TrainingLoop::ends_on_best() {
  if (!out_of_patience_ || !keeps_best()) return false;
  const auto best = processes_.is_first() ? best_checkpoint(folder_.path) : std::nullopt;
  return processes_.broadcast(best && best->step == record_.best->step);
}

// The newest checkpoint stays that of the last step, from which the run goes on where it has other stop rules.
void TrainingLoop::end_on_best() {
  processes_.barrier();  // process 0 has saved
  const std::filesystem::path folder = checkpoint_after(folder_.path, record_.best->step);
  const Checkpoint best = load_checkpoint(folder);
  require_same_run(folder, best.identity, identity_);
  restore_session(session_, learner_, best);
  StepRecord step;
  step.step = best.step;
  held_out_.add_final(step);
  held_out_.apply(step);
  record_.weights_sha256 = weights_sha256(best.weights);
  *record_.stopped_because +=
      fmt::format("; after {} steps the run ended with the weights of step {}", step_, best.step);
}

const Scores& TrainingLoop::score() {
  StepMessage message{seconds(), 0, signalled()};
  if (!processes_.alone() && step_ % setup_.processes.checksum_every == 0) {
    message.weights = weights_checksum(session_, *learner_.program);
  }
  const Scores& scores = members_.score(step_, message);
  seconds_ = scores.messages[0].seconds;
  std::vector<uint64_t> checksums;
  for (const StepMessage& each : scores.messages) {
    one_was_signalled_ = one_was_signalled_ || each.wants_end != 0;
    checksums.push_back(each.weights);
  }
  require_equal_weights(checksums, step_, session_, *learner_.program, processes_);
  return scores;
}

void TrainingLoop::one_step() {
  const auto began = Clock::now();
  const Scores& scores = score();
  const std::vector<int8_t>& fitness = scores.fitness;
  const BatchBuffer& batch = pipeline_.batch_of_all(step_);
  const auto scored = Clock::now();
  pipeline_.begin_update(step_, batch, fitness, held_out_.made_after(step_));
  const Update made = updates_.make(step_, held_out_.evaluations(), fitness, batch, scores.sites);
  const uint64_t voted = pipeline_.end_update();
  const double update_seconds = seconds_since(scored);
  if (monitor_) monitor_->add_votes({step_, fitness, made.vote_stds, batch});

  record_.unique_tokens += scores.scored.tokens;
  record_.member_tokens += learner_.member_tokens(scores.scored.tokens, scores.sites);
  ++step_;
  record_.steps = step_;

  StepRecord step = begin_step_record();
  step.numbers = numbers_of(scores, made, voted);
  if (!processes_.alone()) step.numbers->update_seconds = update_seconds;
  step.numbers->step_seconds = seconds_since(began);
  const bool last = step_ == learner_.train.steps;
  if (last || step_ % setup_.eval.every == 0) held_out_.add_to_curve(step, last);
  if (monitor_ && (last || step_ % setup_.monitor.every == 0)) {
    const std::optional<Evaluation>& held_out = step.held_out ? step.held_out : record_.newest;
    std::optional<double> cost_of_noise;  // what the step's members lost beyond that evaluation
    if (held_out) cost_of_noise = step.numbers->bits_per_unit - held_out->bits_per_unit;
    step.monitor = monitor_->look(session_, step_, made.changed, cost_of_noise);
  }
  put(std::move(step));
}

StepNumbers TrainingLoop::numbers_of(const Scores& scores, const Update& made, uint64_t voted) const {
  StepNumbers numbers;
  const auto units = static_cast<double>(scores.scored.units * learner_.train.members_per_stream);
  numbers.bits_per_unit = static_cast<double>(scores.loss) / 65536.0 / units;
  const auto moved = static_cast<double>(std::accumulate(made.changed.begin(), made.changed.end(), int64_t{0}));
  const auto share = [&](uint64_t weights) { return weights == 0 ? 0.0 : moved / static_cast<double>(weights); };
  numbers.changed = share(pipeline_.perturbed_weights());
  numbers.changed_of_voted = share(voted);
  numbers.pairs_without_fitness = pairs_without(scores.fitness) - learner_.pairs_of_sites();
  for (size_t i = 0; i < made.scalars.size(); ++i) {
    numbers.scalars.emplace_back(learner_.rule->scalar_names()[i], made.scalars[i]);
  }
  numbers.forward_seconds = scores.forward_seconds;
  if (!processes_.alone()) numbers.gather_seconds = scores.gather_seconds;
  return numbers;
}

// This process has done this many steps in this many seconds.
void TrainingLoop::report(uint64_t steps, double seconds) const {
  if (!hooks_.progress) return;
  const auto done = static_cast<double>(steps);
  const std::optional<Evaluation> average = record_.average ? record_.average->newest : std::nullopt;
  hooks_.progress({newest_, learner_.train.steps, record_.newest, average,
                   done * learner_.train.population * learner_.train.tokens / seconds,
                   seconds / done * static_cast<double>(learner_.train.steps - step_), setup_.dataset.unit});
}

// The weights of all processes are compared first, because all processes go on from what is saved. If the data have
// changed, this throws before it saves, and the checkpoint before stays good.
void TrainingLoop::save() {
  setup_.dataset.require_unchanged();
  require_equal_weights(step_, session_, *learner_.program, processes_);
  const std::vector<int8_t> states = members_.states();
  updates_.share_slots();
  if (!processes_.is_first()) return;
  pipeline_.flush_files();
  record_.wall_seconds = seconds();
  CheckpointFacts facts;
  facts.step = step_;
  facts.identity = identity_;
  facts.population = learner_.train.population;
  facts.state_bytes = learner_.program->state_bytes();
  facts.evaluations = held_out_.evaluations();
  facts.data_sha256 = setup_.dataset.sha256;
  facts.counters = {{"member_tokens", record_.member_tokens},
                    {"unique_tokens", record_.unique_tokens},
                    {"seconds", record_.wall_seconds}};
  const SessionTensors tensors(session_, learner_, states, step_);
  record_.weights_sha256 =
      save_checkpoint(folder_.path, facts, tensors.tensors(), setup_.checkpoint.keep, hooks_.warn).weights_sha256;
  put_record();
}

void TrainingLoop::finish() {
  setup_.dataset.require_unchanged();
  record_.status = step_ == learner_.train.steps ? RunStatus::kCompleted
                   : record_.stopped_because     ? RunStatus::kStopped
                                                 : RunStatus::kInterrupted;
  record_.ended_utc = utc_now();
  if (!processes_.is_first()) return;
  if (record_.status != RunStatus::kInterrupted) {
    text_->wait(hooks_.stop);
    draw_curve();
    if (setup_.dataset.unit == "byte") write_samples();
  }
  record_.summary = summarize_metrics(folder_.metrics());
  record_.wall_seconds = seconds();
  put_record();
}

void TrainingLoop::draw_curve() {
  try {
    draw_learning_curve(folder_.metrics(), Curve{record_.name, setup_.dataset.unit, record_.baselines},
                        folder_.curve());
    record_.curve_file = folder_.curve().filename();
  } catch (const Error& error) {
    warn(error.what());
  }
}

// Writes the model's text after the first held-out tokens.
void TrainingLoop::write_samples() {
  const std::vector<uint32_t> prompt = held_out_prompt(setup_.dataset);
  const auto& own = setup_.dataset.vocabulary;
  const Vocabulary& vocabulary = own ? *own : Vocabulary::of_bytes();
  const std::vector<uint32_t> made = sample(session_, *learner_.program, prompt, SampleOptions{});
  write_atomically(folder_.samples(), vocabulary.text(prompt) + vocabulary.text(made) + "\n");
  record_.samples_file = folder_.samples().filename();
}

}  // namespace eggroll
