// Pictures by gnuplot.
#ifndef EGGROLL_RECORD_GNUPLOT_H
#define EGGROLL_RECORD_GNUPLOT_H

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace eggroll {

// Single-quoted text of a script: no escapes, a quote is doubled, control characters are blanks.
std::string gnuplot_text(const std::string& text);

// The unit for an axis that ends at this number: 1e6 and ", millions".
std::pair<double, const char*> gnuplot_unit(double largest);

// Places of labels beside an axis, which is from bottom to top: as near as can be to the given ones, which rise, and at
// least a gap apart. Those that find no room below the top go down.
std::vector<double> spread(std::vector<double> places, double bottom, double top, double gap);

// Keeps the script beside the pictures (curve.png: curve.gp) and has gnuplot make each picture of it. The variable
// `format` of the script is the picture's extension. Throws where gnuplot is not installed or fails; an older picture
// then stays as it was. what begins the error: "no learning curve was drawn".
void draw_with_gnuplot(const std::string& script, const std::vector<std::filesystem::path>& pictures,
                       const std::string& what);

// The text of the script's SVG, without a file. Throws as draw_with_gnuplot().
std::string svg_by_gnuplot(const std::string& script, const std::string& what);

}  // namespace eggroll

#endif
