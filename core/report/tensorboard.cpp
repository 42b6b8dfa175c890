#include "report/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <cmath>
#include <ctime>

#include "record/metric_keys.h"
#include "record/metric_table.h"
#include "system/files.h"

namespace eggroll {
namespace {

// An event file is a row of records, each a message Event in the encoding of Protocol Buffers: for every field a key
// (number * 8 + wire type) and its value.
enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void append_little(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

void append_key(std::string& out, uint32_t field, Wire wire) {
  append_varint(out, field * 8 + static_cast<uint32_t>(wire));
}

void append_bytes(std::string& out, uint32_t field, const std::string& bytes) {
  append_key(out, field, Wire::kBytes);
  append_varint(out, bytes.size());
  out += bytes;
}

// CRC-32C in the form of TensorBoard's record files: rotated, plus a constant.
uint32_t masked_crc(const std::string& bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<uint32_t>(crc.checksum()), 15) + 0xa282ead8U;
}

void append_record(std::string& file, const std::string& event) {
  std::string length;
  append_little(length, event.size(), 8);
  file += length;
  append_little(file, masked_crc(length), 4);
  file += event;
  append_little(file, masked_crc(event), 4);
}

// Event: wall_time = 1, step = 2, file_version = 3, summary = 5.
std::string event_at(double time, uint64_t step) {
  std::string event;
  append_key(event, 1, Wire::kFixed64);
  append_little(event, std::bit_cast<uint64_t>(time), 8);
  append_key(event, 2, Wire::kVarint);
  append_varint(event, step);
  return event;
}

// Summary.Value: tag = 1, simple_value = 2; Summary: value = 1.
void append_scalar(std::string& summary, const std::string& tag, double value) {
  std::string scalar;
  append_bytes(scalar, 1, tag);
  append_key(scalar, 2, Wire::kFixed32);
  append_little(scalar, std::bit_cast<uint32_t>(static_cast<float>(value)), 4);
  append_bytes(summary, 1, scalar);
}

// The seconds since 1970 at a time such as "2025-01-31T23:59:59Z"; 0 if the text is no such time.
double unix_time(const std::string& utc) {
  std::tm parts{};
  return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) != nullptr ? static_cast<double>(::timegm(&parts)) : 0.0;
}

std::string event_file(const MetricTable& table, double start) {
  std::string file;
  std::string first = event_at(start, 0);
  append_bytes(first, 3, "brain.Event:2");
  append_record(file, first);
  std::vector<std::string> tags;
  for (const MetricTable::Column& column : table.columns) {
    tags.push_back(column.key);
    std::replace(tags.back().begin(), tags.back().end(), '.', '/');
  }
  const std::vector<double>* seconds = table.find(metric::kStepSeconds);
  double time = start;
  for (size_t line = 0; line < table.lines; ++line) {
    if (seconds != nullptr && !std::isnan((*seconds)[line])) time += (*seconds)[line];
    std::string summary;
    for (size_t i = 1; i < table.columns.size(); ++i) {  // 0 is the step
      const double value = table.columns[i].values[line];
      if (!std::isnan(value)) append_scalar(summary, tags[i], value);
    }
    std::string event = event_at(time, static_cast<uint64_t>(table.columns[0].values[line]));
    append_bytes(event, 5, summary);
    append_record(file, event);
  }
  return file;
}

}  // namespace

ExportSummary export_tensorboard(const Collection& collection, const std::filesystem::path& folder) {
  ExportSummary summary;
  for (const CollectedRun& run : collection.runs) {
    if (!run.metrics_file) continue;
    const MetricTable table = read_metric_table(*run.metrics_file, Numbers::kNested);
    if (table.lines == 0) continue;
    const double start = unix_time(run.record.started_utc);
    std::filesystem::create_directories(folder / run.name);
    write_atomically(folder / run.name / fmt::format("events.out.tfevents.{:.0f}.eggroll", start),
                     event_file(table, start));
    ++summary.runs;
    summary.lines += table.lines;
  }
  if (summary.runs == 0) throw Error("no run has metrics to export, expected a metrics.jsonl beside a record.json");
  return summary;
}

}  // namespace eggroll
