// Measures a run's text beside its training.
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

// Takes what the other run measured of its text, if it did and both have the same data.
bool take_text_figures(const RunRecord& other, RunRecord& record);

// The measurement of one run's text, on process 0. What it refers to outlives it. The destructor ends the work.
class TextMeasurement {
 public:
  using Warn = std::function<void(const std::string&)>;

  // Begins, where the dataset has such figures and the record does not hold them yet. A point of a sweep takes those of
  // another point with the same data, where its record in the folder beside this one has them.
  TextMeasurement(const Dataset& dataset, const RunFolder& folder, RunRecord& record, Warn warn);
  TextMeasurement(const TextMeasurement&) = delete;
  TextMeasurement& operator=(const TextMeasurement&) = delete;
  ~TextMeasurement();

  // Puts the figures into the record, if they are there now, and warns of a held-out part that stands in the training
  // part. What went wrong is a warning too.
  void take();

  // The same once they are there, or without them as soon as *stop is set.
  void wait(const std::atomic<bool>* stop);

 private:
  void put();

  RunRecord& record_;
  Warn warn_;
  std::atomic<bool> stop_{false};
  std::future<std::optional<TextFigures>> figures_;  // without a state where there is nothing to wait for
};

}  // namespace eggroll

#endif
