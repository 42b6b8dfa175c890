#include "monitor/display.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/verdicts.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kMostVerdicts = 12;
constexpr size_t kFigures = 64;     // the width of a row without its layer
constexpr size_t kLeastLayer = 12;  // the width of a layer's name
// Values with less entropy than two, or four, equally likely values are coloured.
constexpr double kFewBits = 1.0;
constexpr double kSomeBits = 2.0;

enum class Tone { kPlain, kGood, kDoubtful, kBad };

struct Row {
  std::string layer;
  std::optional<double> bits;       // lowest
  std::optional<double> saturated;  // highest, as all below but `moved`
  std::optional<double> zeros;
  std::optional<double> largest;
  std::optional<double> std;
  std::optional<double> weights_saturated;
  std::optional<double> moved;  // lowest
  std::optional<double> votes;
};

void lower(std::optional<double>& worst, double x) { worst = std::min(worst.value_or(x), x); }
void raise(std::optional<double>& worst, double x) { worst = std::max(worst.value_or(x), x); }

std::vector<Row> rows_of(const MonitorReport& report) {
  std::vector<Row> rows;
  const auto row = [&](const std::string& name) -> Row& {
    const std::string layer = name.substr(0, name.find('.'));
    for (Row& there : rows) {
      if (there.layer == layer) return there;
    }
    rows.push_back(Row{});
    rows.back().layer = layer;
    return rows.back();
  };
  for (const ValueReport& value : report.values) {
    Row& r = row(value.name);
    lower(r.bits, value.spread.entropy_bits);
    raise(r.saturated, value.spread.saturated);
    raise(r.zeros, value.spread.zeros);
  }
  for (const HeadReport& head : report.heads) raise(row(head.name).largest, head.spread.largest);
  for (const TensorReport& tensor : report.tensors) {
    Row& r = row(tensor.name);
    raise(r.std, tensor.spread.std);
    raise(r.weights_saturated, tensor.spread.saturated);
    lower(r.moved, tensor.moved);
    if (tensor.votes) raise(r.votes, tensor.votes->over_null);
  }
  return rows;
}

std::string painted(const std::string& text, Tone tone, bool colour) {
  constexpr const char* kCodes[] = {"", "\033[32m", "\033[33m", "\033[31m"};
  if (!colour || tone == Tone::kPlain) return text;
  return kCodes[static_cast<size_t>(tone)] + text + "\033[0m";
}

// A share as a percentage: bad from `limit` on, doubtful from half of it.
Tone share_tone(double share, double limit) {
  return share >= limit ? Tone::kBad : share >= limit / 2 ? Tone::kDoubtful : Tone::kPlain;
}

class Line {
 public:
  Line(const std::string& layer, size_t width, bool colour)
      : text_(fmt::format("{:<{}}", middle_cut(layer, width), width)), colour_(colour) {}

  void cell(const std::optional<double>& x, int width, fmt::format_string<const double&> form, Tone tone) {
    const std::string text = fmt::format("{:>{}}", x ? fmt::format(form, *x) : "-", width);
    text_ += painted(text, tone, colour_);
  }
  void percent(const std::optional<double>& share, int width, Tone tone) {
    cell(share ? std::optional<double>(100.0 * *share) : std::nullopt, width, "{:.1f} %", tone);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool colour_;
};

std::string line_of(const Row& row, size_t layer_width, bool colour) {
  Line line(row.layer, layer_width, colour);
  const double bits = row.bits.value_or(8.0);
  line.cell(row.bits, 7, "{:.2f}", bits < kFewBits ? Tone::kBad : bits < kSomeBits ? Tone::kDoubtful : Tone::kPlain);
  line.percent(row.saturated, 8, share_tone(row.saturated.value_or(0.0), kSaturated));
  line.percent(row.zeros, 8, row.zeros.value_or(0.0) >= kDead ? Tone::kBad : Tone::kPlain);
  line.percent(row.largest, 10, share_tone(row.largest.value_or(0.0), kOneToken));
  line.cell(row.std, 8, "{:.2f}", Tone::kPlain);
  line.percent(row.weights_saturated, 8, share_tone(row.weights_saturated.value_or(0.0), kSaturated));
  line.percent(row.moved, 8, row.moved == 0.0 ? Tone::kDoubtful : Tone::kPlain);
  line.cell(row.votes, 7, "{:.3f}", Tone::kPlain);
  return line.text();
}

}  // namespace

std::string monitor_table(const MonitorReport& report, bool colour, size_t width) {
  const std::vector<Row> rows = rows_of(report);
  size_t layer_width = kLeastLayer;
  for (const Row& row : rows) layer_width = std::max(layer_width, row.layer.size());
  layer_width = std::min(layer_width, std::max(width, kFigures + kLeastLayer) - kFigures);
  std::string text = fmt::format("monitor, step {}\n", report.step);
  const auto header = [&](const char* layer, auto... columns) {
    text += fmt::format("{:<{}}{:>7}{:>8}{:>8}{:>10}{:>8}{:>8}{:>8}{:>7}\n", layer, layer_width, columns...);
  };
  header("", "values", "", "", "heads", "weights", "", "", "votes");
  header("layer", "bits", "±127", "zeros", "one token", "std", "±127", "moved", "/ null");
  for (const Row& row : rows) text += line_of(row, layer_width, colour) + "\n";
  for (size_t i = 0; i < std::min(report.verdicts.size(), kMostVerdicts); ++i) {
    text += painted("! " + report.verdicts[i], Tone::kBad, colour) + "\n";
  }
  if (report.verdicts.size() > kMostVerdicts) {
    text += fmt::format("! {} more verdicts in metrics.jsonl\n", report.verdicts.size() - kMostVerdicts);
  }
  if (report.verdicts.empty()) text += painted("nothing amiss", Tone::kGood, colour) + "\n";
  return text;
}

}  // namespace eggroll
