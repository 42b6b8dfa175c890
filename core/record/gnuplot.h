// Pictures by gnuplot.
#ifndef EGGROLL_RECORD_GNUPLOT_H
#define EGGROLL_RECORD_GNUPLOT_H

#include <filesystem>
#include <string>
#include <utility>

namespace eggroll {

// Single-quoted text of a script: no escapes, a quote is doubled, control characters are blanks.
std::string gnuplot_text(const std::string& text);

// The unit for an axis that ends at this number: 1e6 and ", millions".
std::pair<double, const char*> gnuplot_unit(double largest);

// Keeps the script beside the picture (curve.png: curve.gp) and has gnuplot make the picture of it. Throws where
// gnuplot is not installed or fails; an older picture then stays as it was. what begins the error: "no learning curve
// was drawn".
void draw_with_gnuplot(const std::string& script, const std::filesystem::path& picture, const std::string& what);

}  // namespace eggroll

#endif
