// The common parts of all figures: formats, styles of lines, frames and tics.
#ifndef EGGROLL_RECORD_PLOT_FRAME_H
#define EGGROLL_RECORD_PLOT_FRAME_H

#include <string>
#include <utility>
#include <vector>

namespace eggroll {

inline constexpr double kPlotWidth = 720.0;  // of a usual figure, in pixels of the SVG

// The start of a script: the terminal for each format, and the title.
std::string plot_header(const std::string& title, double height, double width = kPlotWidth);

inline constexpr double kKeyLine = 20.0;      // the height of an entry of the key, in pixels
inline constexpr double kFrameMargin = 0.04;  // of a frame, on both sides of its data
inline constexpr size_t kMostLabel = 72;      // characters of an entry of the key

struct BandPoint {
  double x = 0.0;
  double mean = 0.0;
  double low = 0.0;  // equal to high if there is no interval
  double high = 0.0;
};

struct Band {
  std::string label;
  std::vector<BandPoint> points;  // by x, at least one
};

bool has_interval(const Band& band);

// The points as $NAME of a script: x, mean, low, high.
std::string data_block(const std::string& name, const std::vector<BandPoint>& points, double x_unit);

// The key below the figure, one line for each entry.
std::string key_below(const std::string& title);

// Lines are told apart by colour, dashes and markers. There are this many styles.
inline constexpr size_t kLineStyles = 8;
std::string line_colour(size_t i);
// "lc rgb '#0b4f8a' lw 2 dt 1 pt 7 ps 0.8".
std::string line_style(size_t i);

// A label of a key or an axis, cut if it is longer.
std::string shortened(const std::string& label, size_t most);

// A name at a tic, quoted: gnuplot takes it for a format.
std::string tic_text(const std::string& name);

// The beginning and the end of an axis.
struct Frame {
  double low = 0.0;
  double high = 0.0;

  double height() const { return high - low; }
  // The frame with this share of its height more on both sides, and a little where it has no height.
  Frame with_margin(double share) const;
  // The same for an axis that is logarithmic.
  Frame with_log_margin(double share) const;
};
// Takes at least one value.
Frame frame_of(const std::vector<double>& values);

// Whether values of an axis, at least one, are better shown on a logarithmic one: all are above 0, and the largest is
// at least 8 times the smallest.
bool is_wide(const std::vector<double>& values);

// "set xrange [..]" and the logarithmic scale; axis: x or y.
std::string axis_range(char axis, const Frame& frame, bool is_log);

// Tics of an axis at these values alone, each named as grouped() writes it. A name that has no room is left out.
std::string tics_at(char axis, std::vector<double> values, const Frame& frame, bool is_log);

// About six tics of a linear axis.
std::string linear_tics(char axis, const Frame& frame);

// Tics of a logarithmic axis at powers of ten; where these are fewer than three, at round numbers between them too.
std::string log_tics(char axis, const Frame& frame, std::string (*write)(double));

}  // namespace eggroll

#endif
