#include "record/metric_table.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "record/json.h"
#include "record/metrics.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

// Takes the numbers of one line as the parser reads them: a document tree for each line would take five times as long.
class LineHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit LineHandler(bool nested) : nested_(nested), keys_{metric::kStep}, row_{kAbsent} {}

  void begin_line() {
    std::fill(row_.begin(), row_.end(), kAbsent);
    path_.clear();
    next_ = 0;
    is_object_ = false;
    step_is_whole_ = false;
    has_monitor_ = false;
    has_schema_ = false;
    schema_is_known_ = false;
  }

  bool is_metric_line() const { return is_object_ && step_is_whole_; }
  bool has_monitor() const { return has_monitor_; }
  bool has_schema() const { return has_schema_; }
  bool has_unknown_schema() const { return has_schema_ && !schema_is_known_; }
  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<double>& row() const { return row_; }

  bool null() override { return end_value(); }
  bool boolean(bool value) override { return number(value ? 1.0 : 0.0); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (path_.size() == 1 && path_[0].name == metric::kStep) step_is_whole_ = true;
    if (path_.size() == 1 && path_[0].name == metric::kSchema) schema_is_known_ = value == kMetricsSchema;
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t&) override { return end_value(); }
  bool binary(binary_t&) override { return end_value(); }

  bool start_object(std::size_t) override {
    if (path_.empty()) {
      is_object_ = true;
    } else if (path_.size() == 1 && path_[0].name == metric::kMonitor) {
      has_monitor_ = true;
    }
    path_.push_back({});
    return true;
  }
  bool key(string_t& name) override {
    path_.back().name.swap(name);
    if (path_.size() == 1 && path_[0].name == metric::kSchema) has_schema_ = true;
    return true;
  }
  bool end_object() override {
    path_.pop_back();
    return end_value();
  }
  bool start_array(std::size_t) override {
    path_.push_back({{}, 0});
    return true;
  }
  bool end_array() override {
    path_.pop_back();
    return end_value();
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  struct Level {
    std::string name = {};                       // of the member in hand
    std::optional<size_t> index = std::nullopt;  // of the element in hand, in an array
  };

  bool end_value() {
    if (!path_.empty() && path_.back().index) ++*path_.back().index;
    return true;
  }

  bool number(double value) {
    if (path_.size() == 1 && !path_[0].index) {
      if (path_[0].name != metric::kSchema) column(path_[0].name) = value;
    } else if (!path_.empty() && (nested_ || path_[0].name == metric::kScalars || path_[0].name == metric::kHook)) {
      std::string key;
      for (const Level& level : path_) {
        if (!key.empty()) key += '.';
        key += level.index ? std::to_string(*level.index) : level.name;
      }
      column(key) = value;
    }
    return end_value();
  }

  // Lines have the same keys in the same order, nearly always.
  double& column(const std::string& key) {
    for (size_t i = next_; i < keys_.size(); ++i) {
      if (keys_[i] == key) return next_ = i + 1, row_[i];
    }
    for (size_t i = 0; i < std::min(next_, keys_.size()); ++i) {
      if (keys_[i] == key) return row_[i];
    }
    keys_.push_back(key);
    row_.push_back(kAbsent);
    return row_.back();
  }

  bool nested_;
  std::vector<std::string> keys_;
  std::vector<double> row_;
  std::vector<Level> path_;
  size_t next_ = 0;
  bool is_object_ = false;
  bool step_is_whole_ = false;
  bool has_monitor_ = false;
  bool has_schema_ = false;
  bool schema_is_known_ = false;
};

// Lines were written once for each step, from that of the first line on, which has the schema; in a file without one,
// from step 0 on. Only the line of a stop repeats the last step, with other numbers.
class Order {
 public:
  // Whether the line, line `number` of the file, repeats no line before it.
  bool takes(std::string_view line, bool has_schema, uint64_t step, size_t number) {
    if (number == 1 && has_schema) next_ = step;
    const bool is_of_stop = step + 1 == next_ && line != before_;
    if (step != next_ && !is_of_stop && first_ == 0) {
      first_ = number;
      found_ = step;
      expected_ = next_;
    }
    if (step < next_ && !is_of_stop) return false;
    next_ = step + 1;
    before_ = line;
    return true;
  }

  std::string problem(const std::filesystem::path& path) const {
    if (first_ == 0) return "";
    return fmt::format(
        "line {} of {} is of step {}, expected {}: lines are missing or there twice; restore the file from a copy",
        first_, path.string(), found_, expected_);
  }

 private:
  uint64_t next_ = 0;  // step
  std::string_view before_;
  size_t first_ = 0;  // line that was out of order; 0: none
  uint64_t found_ = 0;
  uint64_t expected_ = 0;
};

void add_row(MetricTable& table, const LineHandler& handler) {
  for (size_t i = table.columns.size(); i < handler.keys().size(); ++i) {
    table.columns.push_back({handler.keys()[i], std::vector<double>(table.lines, kAbsent)});
  }
  for (size_t i = 0; i < table.columns.size(); ++i) table.columns[i].values.push_back(handler.row()[i]);
  ++table.lines;
}

}  // namespace

const std::vector<double>* MetricTable::find(const std::string& key) const {
  for (const Column& column : columns) {
    if (column.key == key) return &column.values;
  }
  return nullptr;
}

MetricTable read_metric_table(const std::filesystem::path& path, Numbers numbers) {
  MetricTable table;
  std::string text;
  try {
    text = read_file(path, Links::kRefused);
  } catch (const Error& error) {
    table.problems.emplace_back(error.what());
    return table;
  }
  LineHandler handler(numbers != Numbers::kOwn);
  size_t number = 0;
  size_t damaged = 0;
  size_t first_damaged = 0;
  Order order;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    ++number;
    end = text.find('\n', begin);
    if (end == std::string::npos) {
      table.half_line =
          fmt::format("{} ends within line {}, as a crash or a writer at work leaves it; that line was left out",
                      path.string(), number);
      break;
    }
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    handler.begin_line();
    const bool is_readable = seal_of_line(line) == Seal::kWhole && is_bounded_json(line);
    const bool is_line = is_readable && nlohmann::json::sax_parse(line, &handler) && handler.is_metric_line();
    if (number == 1 && is_line && handler.has_unknown_schema()) {
      table.problems.push_back(unknown_metrics_schema(path));
      return table;
    }
    if (!is_line) {
      if (damaged++ == 0) first_damaged = number;
      continue;
    }
    if (!order.takes(line, handler.has_schema(), static_cast<uint64_t>(handler.row()[0]), number)) continue;
    if (numbers == Numbers::kMonitorLines && !handler.has_monitor()) continue;
    add_row(table, handler);
    if (handler.has_monitor()) table.newest_monitor = line;
  }
  if (damaged > 0) {
    table.problems.push_back(
        fmt::format("{} of the {} lines of {} are damaged, the first is line {}; they were left out", damaged, number,
                    path.string(), first_damaged));
    // The step of a damaged line is missing, which needs no further sentence.
  } else if (const std::string problem = order.problem(path); !problem.empty()) {
    table.problems.push_back(problem);
  }
  return table;
}

}  // namespace eggroll
