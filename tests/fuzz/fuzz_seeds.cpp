// Writes each row of the overrides' table as a file, for the fuzzer to begin with: fuzz_seeds FOLDER
#include <filesystem>
#include <fstream>
#include <string>

#include "config/override_table.h"

int main(int, char** arguments) {
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const eggroll::test::OverrideRow& row : eggroll::test::override_table()) {
    std::ofstream file(folder / std::to_string(number++), std::ios::binary);
    for (const std::string& text : row.overrides) file << text << '\n';
  }
}
