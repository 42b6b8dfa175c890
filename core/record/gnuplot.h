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

// Places for labels at an axis from bottom to top: as near as possible to the given places, which rise, and at least a
// gap apart. Labels that find no room below the top go down.
std::vector<double> spread(std::vector<double> places, double bottom, double top, double gap);

// Keeps the script next to the pictures (curve.png: curve.gp) and has gnuplot make each picture from it. The variable
// `format` of the script is the picture's extension. Throws if gnuplot is not installed or fails; an older picture then
// stays as it was. `what` begins the error: "no learning curve was drawn".
void draw_with_gnuplot(const std::string& script, const std::vector<std::filesystem::path>& pictures,
                       const std::string& what);

// The script's SVG as text, without a file. Throws as draw_with_gnuplot() does.
std::string svg_by_gnuplot(const std::string& script, const std::string& what);

}  // namespace eggroll

#endif
