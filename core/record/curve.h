// Learning curves as figures: of one run, drawn by gnuplot from metrics.jsonl, and of any others.
#ifndef EGGROLL_RECORD_CURVE_H
#define EGGROLL_RECORD_CURVE_H

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "record/plot_frame.h"
#include "record/record.h"

namespace eggroll {

struct Curves {
  std::string title;
  std::string y_label;
  std::string key_title;
  std::vector<Band> bands;  // at most kLineStyles
  std::vector<std::pair<std::string, double>> yardsticks;
};

// Bits against member tokens. The frame fits each curve without its first fifth. A yardstick in the frame or close to
// it is a dashed line; any other is only named at the edge.
std::string curves_script(const Curves& curves);

struct Curve {
  std::string title;
  std::string unit;  // "byte" or "token"
  BaselineRecord baselines;
};

// Draws training loss, held-out loss (also that of the average of the weights, if there is one) and the baselines
// against member tokens as a PNG. Keeps the gnuplot script with its data next to it (curve.png: curve.gp). Throws if
// there is nothing to draw, gnuplot is not installed, or it fails; an older picture then stays as it was.
void draw_learning_curve(const std::filesystem::path& metrics, const Curve& curve, const std::filesystem::path& png);

}  // namespace eggroll

#endif
