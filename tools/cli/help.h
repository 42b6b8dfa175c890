// Help that fits a terminal of 80 columns.
#ifndef EGGROLL_TOOLS_CLI_HELP_H
#define EGGROLL_TOOLS_CLI_HELP_H

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "cli/terminal.h"

namespace eggroll {

// CLI11 indents what follows a line end in a description.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option), kColumns - get_column_width());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    const size_t indent = get_column_width();
    std::string name = "  " + command->get_name();
    name.resize(std::max(indent, name.size() + 1), ' ');
    return name + wrapped(command->get_description(), kColumns - indent, indent) + "\n";
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), kColumns) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    return app->get_footer().empty() ? "" : "\n" + wrapped(app->get_footer(), kColumns) + "\n";
  }

 private:
  static constexpr size_t kColumns = 80;
};

}  // namespace eggroll

#endif
