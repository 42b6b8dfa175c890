// The files of the page, put into the executable by the build (embed.cmake).
#ifndef EGGROLL_TOOLS_SERVE_ASSETS_H
#define EGGROLL_TOOLS_SERVE_ASSETS_H

#include <span>
#include <string_view>

namespace eggroll {

struct Asset {
  std::string_view name;  // "main.js"
  std::string_view text;
};

std::span<const Asset> assets();

}  // namespace eggroll

#endif
