// A file that the build puts into the executable (cmake/EggrollEmbed.cmake).
#ifndef EGGROLL_SYSTEM_ASSET_H
#define EGGROLL_SYSTEM_ASSET_H

#include <span>
#include <string_view>

namespace eggroll {

struct Asset {
  std::string_view name;  // "main.js"
  std::string_view text;
};

}  // namespace eggroll

#endif
