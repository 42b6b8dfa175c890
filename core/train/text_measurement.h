// Measures a run's text while the run trains.
#ifndef EGGROLL_TRAIN_TEXT_MEASUREMENT_H
#define EGGROLL_TRAIN_TEXT_MEASUREMENT_H

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "data/text_figures.h"
#include "record/record.h"
#include "record/run_files.h"

namespace eggroll {

// Copies the other run's figures of its text, if it has some and both runs have the same data.
bool take_text_figures(const RunRecord& other, RunRecord& record);

// The measurement of one run's text, on process 0. Its arguments must outlive it. The destructor ends the work.
class TextMeasurement {
 public:
  using Warn = std::function<void(const std::string&)>;

  // Begins the work if the dataset has such figures and the record does not hold them yet. A point of a sweep takes the
  // figures of a neighbouring point's record if that has them and the same data.
  TextMeasurement(const Dataset& dataset, const RunFolder& folder, RunRecord& record, Warn warn);
  TextMeasurement(const TextMeasurement&) = delete;
  TextMeasurement& operator=(const TextMeasurement&) = delete;
  ~TextMeasurement();

  // Puts the figures into the record if they are ready, and warns if the held-out part stands in the training part. An
  // error of the measurement becomes a warning too.
  void take();

  // Does the same once the figures are ready, or does without them as soon as *stop is set.
  void wait(const std::atomic<bool>* stop);

 private:
  void put();

  RunRecord& record_;
  Warn warn_;
  std::atomic<bool> stop_{false};
  std::future<std::optional<TextFigures>> figures_;  // without a state if there is nothing to wait for
};

}  // namespace eggroll

#endif
