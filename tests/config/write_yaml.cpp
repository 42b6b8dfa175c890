// write_yaml: reads a value as JSON from standard input and prints it as a configuration's file has it.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "config/yaml.h"

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  fmt::print("{}", eggroll::to_yaml(eggroll::parse_yaml(text, "standard input")));
  return 0;
}
