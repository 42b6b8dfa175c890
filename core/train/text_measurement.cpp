#include "train/text_measurement.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "record/sentence.h"
#include "system/beside.h"
#include "system/machine.h"

namespace eggroll {

TextMeasurement::TextMeasurement(const Dataset& dataset, const RunFolder& folder, RunRecord& record, Warn warn)
    : record_(record), warn_(std::move(warn)) {
  if (record.counting_seconds || !has_text_figures(dataset)) return;
  figures_ = beside([this, &dataset, scratch = folder.path, caller = std::this_thread::get_id()] {
    // Training takes all cores. It goes first, so that the seconds of its steps do not depend on the text's length.
    if (std::this_thread::get_id() != caller) give_way();
    return measure_text(dataset, scratch, stop_);
  });
}

TextMeasurement::~TextMeasurement() {
  stop_ = true;
  if (figures_.valid()) figures_.wait();
}

void TextMeasurement::take() {
  if (!figures_.valid() || figures_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  put();
}

void TextMeasurement::wait(const std::atomic<bool>* stop) {
  constexpr auto kTick = std::chrono::milliseconds(20);
  if (!figures_.valid()) return;
  while (figures_.wait_for(kTick) == std::future_status::timeout) {
    if (stop != nullptr && stop->load()) stop_ = true;
  }
  put();
}

void TextMeasurement::put() {
  try {
    const std::optional<TextFigures> figures = figures_.get();
    if (!figures) return;
    record_.baselines.kneser_ney = figures->kneser_ney;
    record_.baselines.xz = figures->xz;
    record_.baselines.ppmd = figures->ppmd;
    record_.counting_seconds = figures->counting_seconds;
    record_.overlap = figures->overlap;
  } catch (const std::exception&) {
    warn_(fmt::format("the record has no counted baselines and no overlap: {}", sentence_of_exception()));
    return;
  }
  if (const std::optional<std::string> caution = overlap_caution(record_.overlap)) warn_(*caution);
}

}  // namespace eggroll
