#include "serve/connections.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <vector>

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// The port of one end of the socket; 0 where the descriptor is no IPv4 connection.
uint16_t port_of(int descriptor, int (*name_of)(int, sockaddr*, socklen_t*)) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (name_of(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET) return 0;
  return ntohs(address.sin_port);
}

// The open descriptors of this process. cpp-httplib does not tell which are its own.
std::vector<int> open_descriptors() {
  std::vector<int> descriptors;
  std::error_code failure;
  for (fs::directory_iterator entry("/dev/fd", failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    int descriptor = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), descriptor).ec == std::errc()) {
      descriptors.push_back(descriptor);
    }
  }
  return descriptors;
}

}  // namespace

void Connections::end_old() {
  const auto now = std::chrono::steady_clock::now();
  decltype(seen_) still_there;
  for (const int descriptor : open_descriptors()) {
    if (port_of(descriptor, ::getsockname) != port_) continue;
    const uint16_t client = port_of(descriptor, ::getpeername);
    if (client == 0) continue;  // this socket listens
    const auto known = seen_.find({descriptor, client});
    const auto first = known == seen_.end() ? now : known->second;
    still_there.emplace(std::pair(descriptor, client), first);
    if (now - first > longest_) ::shutdown(descriptor, SHUT_RDWR);
  }
  seen_ = std::move(still_there);
}

}  // namespace eggroll
