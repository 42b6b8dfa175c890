// The words that people use for the keys of a configuration, in figures and sentences.
#ifndef EGGROLL_REPORT_AXIS_NAMES_H
#define EGGROLL_REPORT_AXIS_NAMES_H

#include <string>

namespace eggroll {

// "width" of model.width, "model" of model.name.
std::string last_part(const std::string& key);

// "sigma shift" of sigma_shift.
std::string spoken_key(const std::string& key);

// "131,072" for 131072; any other text than a whole number of four digits or more stays as it is.
std::string spoken_number(const std::string& value);

// "rank, sigma shift" of the axis noise.rank+noise.sigma_shift.
std::string spoken_axis(const std::string& axis);

// The name of an axis in a figure: "population (members)" for train.population; both names for
// "noise.rank+noise.sigma_shift".
std::string axis_title(const std::string& axis);

}  // namespace eggroll

#endif
