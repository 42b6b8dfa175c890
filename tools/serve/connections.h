// The connections of clients to a port of this process. It ends those that last too long.
#ifndef EGGROLL_TOOLS_SERVE_CONNECTIONS_H
#define EGGROLL_TOOLS_SERVE_CONNECTIONS_H

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

namespace eggroll {

class Connections {
 public:
  Connections(uint16_t port, std::chrono::seconds longest) : port_(port), longest_(longest) {}

  // Ends connections that earlier calls saw too long ago: their reads and writes fail from now on.
  void end_old();

 private:
  uint16_t port_;
  std::chrono::seconds longest_;
  // The time at which each connection was seen first, by descriptor and the client's port.
  std::map<std::pair<int, uint16_t>, std::chrono::steady_clock::time_point> seen_;
};

}  // namespace eggroll

#endif
