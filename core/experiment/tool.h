// Runs another program, waits for it and reads what it prints.
#ifndef EGGROLL_EXPERIMENT_TOOL_H
#define EGGROLL_EXPERIMENT_TOOL_H

#include <string>
#include <vector>

namespace eggroll {

struct ToolResult {
  int exit_code = 0;   // 128 and more: ended by a signal
  std::string output;  // of both streams, as it came
};

// words: the program, found as a shell would find it, and its arguments. It has a process group of its own, so that
// Ctrl-C does not reach it. Throws Error if it cannot be started.
ToolResult run_tool(const std::vector<std::string>& words);

}  // namespace eggroll

#endif
