#include "train/text_measurement.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "eggroll/error.h"
#include "record/sentence.h"
#include "system/background.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// Whether a neighbouring point had the figures. A record that cannot be read does not count: its own run says why.
bool take_of_another_point(const RunFolder& folder, RunRecord& record) {
  std::error_code failure;
  for (fs::directory_iterator next(folder.path.parent_path(), failure); !failure && next != fs::directory_iterator();
       next.increment(failure)) {
    const fs::path file = RunFolder{next->path()}.record();
    if (next->path().filename() == folder.path.filename() || !is_there(file)) continue;
    try {
      if (take_text_figures(read_record(file), record)) return true;
    } catch (const Error&) {
    }
  }
  return false;
}

}  // namespace

bool take_text_figures(const RunRecord& other, RunRecord& record) {
  const std::optional<DatasetRecord>& theirs = other.dataset;
  const std::optional<DatasetRecord>& own = record.dataset;
  const bool is_same_data =
      theirs && own && theirs->sha256 == own->sha256 && theirs->unit == own->unit && theirs->sizes == own->sizes;
  if (!other.counting_seconds || !is_same_data) return false;  // records of version 0.2 have no such seconds
  record.baselines.kneser_ney = other.baselines.kneser_ney;
  record.baselines.xz = other.baselines.xz;
  record.baselines.ppmd = other.baselines.ppmd;
  record.counting_seconds = other.counting_seconds;
  record.overlap = other.overlap;
  return true;
}

TextMeasurement::TextMeasurement(const Dataset& dataset, const RunFolder& folder, RunRecord& record, Warn warn)
    : record_(record), warn_(std::move(warn)) {
  if (record.counting_seconds || !has_text_figures(dataset)) return;
  if (record.sweep && take_of_another_point(folder, record)) return;
  figures_ = beside([this, &dataset, caller = std::this_thread::get_id()] {
    // Training takes all cores. It goes first, so that the seconds of its steps do not depend on the text's length.
    if (std::this_thread::get_id() != caller) give_way();
    return measure_text(dataset, stop_);
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
