#include "cli/misuse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "eggroll/suggest.h"

namespace eggroll {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

// The first word that is no option of eggroll itself; "" where there is none.
std::string command_in(const std::vector<std::string>& command_line) {
  for (size_t i = 1; i < command_line.size(); ++i) {
    if (command_line[i] == "--config-dir") {
      ++i;
    } else if (command_line[i][0] != '-') {
      return command_line[i];
    }
  }
  return "";
}

Error unknown_option(const CLI::App& app, const CLI::App& command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::App* each : {&command, &app}) {
    for (const CLI::Option* of_it : each->get_options()) {
      if (!of_it->get_lnames().empty()) known.push_back("--" + of_it->get_lnames().front());
    }
  }
  const std::string name = &command == &app ? "" : command.get_name() + " ";
  return Error(fmt::format("unknown option '{}'{} (see eggroll {}--help)", option, near_name(option, known), name));
}

}  // namespace

const CLI::App& command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (sub->get_name() == name) return *sub;
  }
  throw Error(fmt::format("unknown command '{}'{} (see eggroll --help)", name, suggestion(name, command_names(app))));
}

Error misused(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& command_line) {
  const std::string first = command_in(command_line);
  for (size_t i = 1; i < command_line.size() && first.empty(); ++i) {
    const std::string& word = command_line[i];
    if (word.starts_with('-') && app.get_option_no_throw(word) == nullptr) return unknown_option(app, app, word);
  }
  if (first.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return Error(fmt::format("no command was given, expected one of: {} (see eggroll --help)",
                             fmt::join(command_names(app), ", ")));
  }
  const CLI::App* command = &app;
  try {
    if (!first.empty()) command = &command_named(app, first);
  } catch (const Error& unknown) {
    return unknown;
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : app.remaining(true)) {
      if (word.starts_with('-')) return unknown_option(app, *command, word);
    }
  }
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return Error(fmt::format("{} (see eggroll {}--help)", text, first.empty() ? "" : first + " "));
}

}  // namespace eggroll
