#include "system/machine.h"

#include <fmt/format.h>
#include <sys/wait.h>

namespace eggroll {

std::string ending_of(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return fmt::format("exit code {}", WEXITSTATUS(wait_status));
  return signal_name(WTERMSIG(wait_status));
}

}  // namespace eggroll
