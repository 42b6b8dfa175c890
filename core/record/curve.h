// The learning curve of a run as a picture, drawn by gnuplot from metrics.jsonl.
#ifndef EGGROLL_RECORD_CURVE_H
#define EGGROLL_RECORD_CURVE_H

#include <filesystem>
#include <string>

#include "record/record.h"

namespace eggroll {

struct Curve {
  std::string title;
  std::string unit;  // "byte" or "token"
  BaselineRecord baselines;
};

// Draws training loss, held-out loss (that of the average of the weights too, where there is one) and the baselines
// against member tokens: a PNG of 1000 x 600 pixels. Keeps the gnuplot script with its data beside it (curve.png:
// curve.gp). Throws where there is nothing to draw, where gnuplot is not installed, and where it fails; an older
// picture then stays as it was.
void draw_learning_curve(const std::filesystem::path& metrics, const Curve& curve, const std::filesystem::path& png);

}  // namespace eggroll

#endif
