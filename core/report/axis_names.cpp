#include "report/axis_names.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "record/plot_frame.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {

std::string last_part(const std::string& key) {
  const std::string path = key.ends_with(".name") ? key.substr(0, key.size() - 5) : key;
  return path.substr(path.rfind('.') + 1);
}

std::string spoken_key(const std::string& key) {
  std::string text = key;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string spoken_number(const std::string& value) {
  constexpr size_t kShort = 3;
  const bool is_whole = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return is_whole && value.size() > kShort ? grouped(*real_of(value)) : value;
}

std::string spoken_axis(const std::string& axis) {
  std::string text;
  std::istringstream keys(axis);
  for (std::string key; std::getline(keys, key, '+');) text += (text.empty() ? "" : ", ") + spoken_key(last_part(key));
  return text;
}

std::string axis_title(const std::string& axis) {
  static const std::map<std::string, std::string> kTitles = {
      {"train.population", "population (members)"},
      {"train.steps", "steps"},
      {"train.tokens", "tokens that a member reads in a step"},
      {"train.members_per_stream", "members that read the same tokens"},
      {"model.width", "width of the model"},
      {"model.layers", "layers of the model"},
      {"model.init_std", "standard deviation of the initial weights"},
      {"noise.rank", "rank of the perturbation"},
      {"noise.distribution", "distribution of the noise"},
      {"noise.source", "source of the noise"},
      {"dataset.path", "data"}};
  std::string title;
  std::istringstream keys(axis);
  for (std::string key; std::getline(keys, key, '+');) {
    const auto known = kTitles.find(key);
    title += (title.empty() ? "" : ", ") + (known != kTitles.end() ? known->second : spoken_key(last_part(key)));
  }
  return title;
}

}  // namespace eggroll
