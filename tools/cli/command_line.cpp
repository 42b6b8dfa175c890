#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/terminal.h"
#include "record/environment.h"
#include "system/text.h"

namespace eggroll {
namespace {

// Help that fits a terminal of 80 columns. CLI11 indents what follows a line end in a description.
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

}  // namespace

CommandLine::CommandLine(int argc, char** argv) : typed(argv, argv + argc) {
  typed[0] = "eggroll";  // a record says the same wherever the executable lies
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer("eggroll help COMMAND describes a command, eggroll keys lists groups, options and keys.");
  app.set_version_flag("-V,--version", [] {
    const Environment environment = capture_environment();
    return fmt::format("eggroll {} ({}), plugin ABI {}, spec {}", environment.host_version, environment.host_commit,
                       environment.abi, environment.spec_hash);
  });
  app.add_option("--config-dir", host.config_dirs, "A folder with config.yaml or with more options; may be repeated")
      ->allow_extra_args(false);
}

CLI::App* CommandLine::add(const std::string& name, const std::string& help, const std::function<int()>& does) {
  CLI::App* command = app.add_subcommand(name, help);
  command->callback([this, does] { exit_code = does(); });
  return command;
}

CLI::App* CommandLine::add_composing(const std::string& name, const std::string& help, Overrides& overrides,
                                     const std::function<int()>& does) {
  CLI::App* command = add(name, help, does);
  takes(command, "overrides", overrides, "group=option, a.b=value, +a.b=value, ++a.b=value, ~a.b", {Words::kOverrides});
  command->fallthrough();
  command->footer("eggroll keys lists groups, their options and all keys; eggroll keys optimizer those of one group.");
  return command;
}

void CommandLine::takes_run(CLI::App* command, std::filesystem::path& run) {
  takes(command, "run", run, kRunHelp, {Words::kRuns})->required();
}

void CommandLine::takes_results(CLI::App* command, const std::string& name, std::filesystem::path& results) {
  takes(command, name, results,
        "A folder with runs at any depth, a record, the name of a sweep, or a run's name or 4 digits of its hash",
        {Words::kResults})
      ->required();
}

void CommandLine::takes_checkpoint(CLI::App* command, std::string& checkpoint, std::string& weights) {
  takes(command, "--checkpoint", checkpoint,
        "end (that the run ended with; the newest of one that has not ended), last (the newest), best (by its held-out "
        "evaluation), or the number of steps of a checkpoint that the run keeps",
        {Words::kThese, {"end", "last", "best"}})
      ->capture_default_str();
  takes(command, "--weights", weights,
        "What to take: the run's weights, or their average, which a run with optimizer.average keeps",
        {Words::kThese, {"weights", "average"}})
      ->capture_default_str()
      ->check(CLI::IsMember({"weights", "average"}));
}

CLI::Option* add_plugins(CLI::App* command, std::vector<std::filesystem::path>& plugins) {
  return command
      ->add_option("--plugins", plugins,
                   "Also take plugins from this folder, because the run's own plugins.path is not followed; may be "
                   "repeated")
      ->allow_extra_args(false);
}

void add_monitor(CLI::App* command, bool& show_monitor) {
  command->add_flag("--monitor", show_monitor,
                    "Print what the monitor sees every monitor.every steps (every eval.every steps if that is 0)");
}

void add_json(CLI::App* command, bool& json) { command->add_flag("--json", json, "Print one JSON document"); }

std::function<std::string(const std::string&)> whole_number(uint64_t least, uint64_t most) {
  return [=](const std::string& text) {
    uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, number);
    const bool is_plain = status == std::errc() && stop == end && (text.size() == 1 || text[0] != '0');
    if (is_plain && number >= least && number <= most) return std::string();
    return fmt::format("it is '{}', expected a whole number from {} to {}", text, least, most);
  };
}

std::function<std::string(const std::string&)> real_number(double least, double most) {
  return [=](const std::string& text) {
    const std::optional<double> number = real_of(text);
    const bool is_there = number && *number >= least && *number <= most;
    return is_there ? std::string() : fmt::format("it is '{}', expected a number from {} to {}", text, least, most);
  };
}

}  // namespace eggroll
