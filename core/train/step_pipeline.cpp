#include "train/step_pipeline.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>

#include "eggroll/threads_given.h"
#include "record/fields.h"

namespace eggroll {
namespace {

bool is_long(const Learner& learner) {
  const TrainSettings& train = learner.train;
  const uint64_t places = uint64_t{train.population} / train.members_per_stream * train.tokens;
  const uint64_t rows = places * learner.program->indices().size();
  return train.population / 2 + rows >= uint64_t{64} << 10;
}

}  // namespace

StepPipeline::StepPipeline(const Setup& setup, BackendSession& session, const MemberShare& own)
    : setup_(setup),
      session_(session),
      own_(own),
      given_(threads_given(Threads::number(setup.learner.threads) + 1).count),
      threads_(static_cast<int>(std::max(1U, given_ - 1))),
      voted_weights_(setup.learner),
      is_one_call_(own.first % setup.learner.train.members_per_stream == 0 &&
                   own.count % setup.learner.train.members_per_stream == 0),
      writes_beside_update_(is_long(setup.learner)) {
  if (given_ <= Threads::number(setup.learner.threads)) return;
  try {
    side_thread_.emplace(std::chrono::microseconds(0));
  } catch (const std::system_error&) {
    // The system may refuse a thread although it gave one a moment ago.
  }
}

egg_evaluate StepPipeline::call(uint64_t step) {
  if (step >= filled_end_ || made(step).step != step) end_filling();
  if (made(step).step != step) {
    fill(step);
    filling_end_ = filled_end_ = step + 1;
  }
  egg_evaluate call = call_of(step);
  if (is_one_call_ && step + 1 < filled_end_ && made(step + 1).step == step + 1) {
    next_ = call_of(step + 1);
    call.next = &next_;
  }
  return call;
}

egg_evaluate StepPipeline::call_of(uint64_t step) const {
  const uint32_t each = setup_.learner.train.members_per_stream;
  const uint32_t first = own_.first / each * each;  // of the first stream's members
  const uint32_t count = own_.first + own_.count - first;
  return {sizeof(egg_evaluate), each, step, first, count, made(step).buffer.view(), nullptr, nullptr};
}

void StepPipeline::fill(uint64_t step) {
  Batch& batch = batches_[step % batches_.size()];
  const uint32_t each = setup_.learner.train.members_per_stream;
  const uint32_t first = own_.first / each;
  setup_.streams.fill(step, batch.buffer, first, (own_.first + own_.count - 1) / each + 1 - first, &threads_);
  // A stream that begins with another process's members is counted there.
  batch.scored = count_scored(batch.buffer, setup_.dataset, own_.first % each != 0 ? 1 : 0, &threads_);
  batch.step = step;
}

void StepPipeline::end_filling() {
  filled_end_ = filling_end_;
  if (side_thread_) side_thread_->wait();
}

const BatchBuffer& StepPipeline::batch_of_all(uint64_t step) {
  if (own_.count == setup_.learner.train.population && made(step).step == step) return made(step).buffer;
  setup_.fill_read(step, all_);
  return all_;
}

void StepPipeline::open_files(const RunFolder& folder, const std::string& config_hash, uint64_t step, bool fresh) {
  journal_.emplace(folder.journal(), setup_.learner.train.population / 2, config_hash, step, setup_.first_step());
  // A line's step counts steps done, and line 0 is the untrained model.
  metrics_.emplace(folder.metrics(), fresh ? 0 : step + 1, setup_.first_step());
}

void StepPipeline::put_line(const StepRecord& step) {
  write_line();
  unwritten_ = step;
  const bool waits = step.numbers && !step.held_out && !step.final && !step.monitor && writes_beside_update_;
  if (!waits) write_line();
}

// Writes the line that is held back, if there is one.
void StepPipeline::write_line() {
  const std::optional<StepRecord> step = std::exchange(unwritten_, std::nullopt);  // not tried again if it fails
  if (metrics_ && step) metrics_->append(to_json(*step));
}

void StepPipeline::add_to_line(const RunFolder& folder, uint64_t step, const HookNumbers& numbers) {
  if (!metrics_) return;
  add_to_last_line(folder.metrics(), metric::kHook, field_json(numbers, metric::kHook));
  metrics_.emplace(folder.metrics(), step + 1, setup_.first_step());
}

void StepPipeline::flush_files() {
  write_line();
  metrics_->flush();
  journal_->flush();
}

void StepPipeline::begin_update(uint64_t step, const BatchBuffer& batch, const std::vector<int8_t>& fitness,
                                const std::optional<egg_evaluation>& evaluation) {
  const auto append = [this, step, &batch, &fitness, evaluation] {
    voted_ = voted_weights_.count(batch, &threads_);
    if (journal_) journal_->append(step, evaluation, fitness);
  };
  // If steps take only milliseconds, reading data takes a part of them. So batches are read three steps ahead: then the
  // reading may take until the next evaluation ends.
  filling_end_ = std::max(filled_end_, std::min(step + batches_.size(), setup_.learner.train.steps));
  std::function<void()> work = [this, first = filled_end_, end = filling_end_] {
    try {
      for (uint64_t s = first; s < end; ++s) fill(s);
    } catch (...) {
      // call() tries again where it needs the batch, and says what is wrong.
    }
  };
  if (writes_beside_update_) {
    const auto write = std::make_shared<std::packaged_task<void()>>([this, append] {
      write_line();
      append();
      if (is_one_call_) session_.expect_losses(own_.count, &threads_);
    });
    written_ = write->get_future();
    work = [write, fill_later = std::move(work)] {
      (*write)();
      fill_later();
    };
  } else {
    append();
  }
  if (side_thread_) return side_thread_->start(work);
  work();
}

uint64_t StepPipeline::end_update() {
  if (written_.valid()) written_.get();
  return voted_;
}

void StepPipeline::end_failed_update() {
  if (written_.valid()) written_.wait();
  write_line();
}

}  // namespace eggroll
