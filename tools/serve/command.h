// eggroll serve.
#ifndef EGGROLL_TOOLS_SERVE_COMMAND_H
#define EGGROLL_TOOLS_SERVE_COMMAND_H

#include <cstdint>
#include <filesystem>

namespace eggroll {

inline constexpr uint16_t kServePort = 8650;

// Serves the page until SIGINT, SIGTERM or SIGHUP; returns the exit code.
int serve_command(const std::filesystem::path& results, uint16_t port);

}  // namespace eggroll

#endif
