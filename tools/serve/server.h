// Serves the page and its API over HTTP, on 127.0.0.1 and nowhere else.
#ifndef EGGROLL_TOOLS_SERVE_SERVER_H
#define EGGROLL_TOOLS_SERVE_SERVER_H

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "system/asset.h"

namespace eggroll {

// The files of the page.
std::span<const Asset> serve_assets();

class Server {
 public:
  // Watches and answers from now on. Port 0: any free one. Throws Error if the port is in use or results is no folder.
  Server(const std::filesystem::path& results, uint16_t port);
  ~Server();

  uint16_t port() const;
  std::string address() const;  // "http://127.0.0.1:8650/"

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace eggroll

#endif
