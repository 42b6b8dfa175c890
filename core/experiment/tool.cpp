#include "experiment/tool.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <system_error>

#include "eggroll/error.h"
#include "system/process.h"

namespace eggroll {

ToolResult run_tool(const std::vector<std::string>& words) {
  Pipe pipe = open_pipe();
  pid_t child = 0;
  const int failure = spawn(words, {false, &*pipe.input, &*pipe.input, true}, child);
  if (failure != 0) {
    throw Error(fmt::format("cannot start {}: {}", words[0], std::generic_category().message(failure)));
  }
  pipe.input.reset();
  ToolResult result;
  result.output = read_to_end(pipe.output);
  const int status = wait_for(child);
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace eggroll
