// How a report writes numbers: short, and the same everywhere.
#ifndef EGGROLL_REPORT_FIGURES_H
#define EGGROLL_REPORT_FIGURES_H

#include <string>

#include "report/statistics.h"

namespace eggroll {

// Four significant digits: "3.487", "-0.01234", "0", "1.5e-07".
std::string text_of(double value);

// "12.3 %".
std::string percent(double share);

// "35.3 M", "81.2 k", "640".
std::string short_count(double value);

// "1.5 GiB", "640 KiB".
std::string bytes_text(double bytes);

// "410 ms", "2.31 s", "12 min", "3.4 h".
std::string seconds_text(double seconds);

// "3.487 (95 % interval 3.466 to 3.508, 5 seeds)"; of one value "3.487 (1 seed, no interval)".
std::string text_of(const Mean& mean, const std::string& of_what);

}  // namespace eggroll

#endif
