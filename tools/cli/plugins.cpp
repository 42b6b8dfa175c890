// eggroll plugins, check, new.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/settings_block.h"
#include "conformance/check_plugin.h"
#include "conformance/trajectory.h"
#include "eggroll/error.h"
#include "plugin/calls.h"
#include "plugin/scaffold.h"
#include "record/json.h"
#include "system/files.h"
#include "train/setup.h"

namespace eggroll {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

// Reads a plugin file alone, without the installed plugins.
ChosenPlugin plugin_in_file(const fs::path& path) {
  const Registry registry({PluginFolder{fs::absolute(path), "the command line"}});
  for (const PluginFile& file : registry.files()) {
    if (!file.kind || file.verdict != Verdict::kAccepted) throw Error(file.reason);
    return registry.choose(*file.kind, file.name);
  }
  throw Error(fmt::format("{} is no plugin file, expected one that ends in .eggplugin", path.string()));
}

// A plugin as `check` takes it: NAME, or KIND:NAME. Where none of the registry has the name, a file of this name alone
// is looked for where a user who builds a plugin stands.
ChosenPlugin named_plugin(const Registry& registry, const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = colon == std::string::npos ? text : text.substr(colon + 1);
  const std::string kind = colon == std::string::npos ? "" : text.substr(0, colon);
  for (const PluginFile& file : registry.files()) {
    if (file.kind && file.name == name && (kind.empty() || kind == kind_name(*file.kind))) {
      return registry.choose(*file.kind, file.name);
    }
  }
  if (!is_plugin_name(name)) {
    throw Error(
        fmt::format("no plugin '{}' was found, expected the path of its file, or a name that `eggroll plugins` "
                    "lists; correct it",
                    text));
  }
  std::vector<std::string> built;
  for (const fs::path& folder : {fs::path("."), fs::path("build"), name / fs::path("build")}) {
    const fs::path file = folder / (name + ".eggplugin");
    std::error_code unknown;
    if (fs::is_regular_file(file, unknown)) built.push_back(file.lexically_normal().string());
  }
  if (built.size() > 1) {
    throw Error(
        fmt::format("'{}' may mean any of {} files: {}; give the file", text, built.size(), fmt::join(built, ", ")));
  }
  if (built.empty()) {
    throw Error(
        fmt::format("no plugin '{0}' was found, expected a name that `eggroll plugins` lists, or one of a file "
                    "{1}.eggplugin in this folder, build or {1}/build; build it, or give its file",
                    text, name));
  }
  ChosenPlugin plugin = plugin_in_file(built.front());
  if (!kind.empty() && kind != kind_name(*plugin.file.kind)) {
    throw Error(fmt::format("{} is the {}, expected a {}; correct it", built.front(), plugin.file.who(), kind));
  }
  return plugin;
}

int print_checks(const ChosenPlugin& plugin, const std::vector<Check>& checks) {
  size_t passed = 0;
  for (const Check& check : checks) {
    fmt::print("{:<4} {} ({} cases)\n", check.passed() ? "ok" : "FAIL", check.what, check.cases);
    for (const std::string& failure : check.failures) {
      std::istringstream lines(failure);
      for (std::string line; std::getline(lines, line);) fmt::print("       {}\n", line);
    }
    if (check.cases == 0) fmt::print("       no case ran\n");
    passed += check.passed() ? size_t{1} : size_t{0};
  }
  fmt::print("{}: {} of {} checks passed\n", plugin.file.who(), passed, checks.size());
  return passed == checks.size() && !checks.empty() ? 0 : 1;
}

// The settings that configs/KIND/NAME.yaml gives a model or an optimizer. The folder `configs` beside the plugin, or
// beside its build folder as `eggroll new` makes it, is searched last.
ConfigNode section_of(const HostOptions& host, const PluginFile& plugin) {
  const std::string kind = kind_name(*plugin.kind);
  const fs::path name = fs::path(kind) / (plugin.name + ".yaml");
  ConfigSearch search = config_search(host);
  const fs::path folder = plugin.path.lexically_normal().parent_path();
  search.config_dirs.push_back(folder / "configs");
  search.config_dirs.push_back(folder.parent_path() / "configs");
  const bool is_found = std::any_of(search.config_dirs.begin(), search.config_dirs.end(),
                                    [&](const fs::path& configs) { return is_there(configs / name); });
  if (!is_found) {
    std::vector<std::string> searched;
    for (const fs::path& configs : search.config_dirs) searched.push_back(configs.string());
    throw Error(
        fmt::format("the settings of the {} are missing, expected {} in one of: {}; give the folder that holds "
                    "it: --config-dir DIR",
                    plugin.who(), name.string(), fmt::join(searched, ", ")));
  }
  return compose(search, {fmt::format("{}={}", kind, plugin.name)});
}

ordered_json json_of(const PluginFile& file) {
  const bool is_accepted = file.verdict == Verdict::kAccepted;
  return {{"kind", file.kind ? ordered_json(kind_name(*file.kind)) : ordered_json()},
          {"name", or_null(file.name)},
          {"verdict", verdict_name(file.verdict)},
          {"reason", or_null(file.reason)},
          {"file", file.path.string()},
          {"version", or_null(file.version)},
          {"build", or_null(file.build)},
          {"score", is_accepted ? ordered_json(file.score) : ordered_json()}};
}

ordered_json json_of(const Registry& registry) {
  ordered_json folders = ordered_json::array();
  for (const PluginFolder& folder : registry.folders()) {
    folders.push_back(
        {{"folder", folder.path.string()}, {"origin", folder.origin}, {"problem", or_null(folder.problem)}});
  }
  ordered_json plugins = ordered_json::array();
  for (const PluginFile& file : registry.files()) plugins.push_back(json_of(file));
  return {{"folders", folders}, {"plugins", plugins}};
}

int plugins_command(const HostOptions& host, bool json) {
  const Registry registry = list_plugins(compose(config_search(host), {}));
  if (json) {
    print_json(json_of(registry));
    return 0;
  }
  for (const PluginFolder& folder : registry.folders()) {
    fmt::print("{} ({}){}{}\n", folder.path.string(), folder.origin, folder.problem.empty() ? "" : ": ",
               folder.problem);
  }
  size_t accepted = 0;
  for (const PluginFile& file : registry.files()) {
    accepted += file.verdict == Verdict::kAccepted ? size_t{1} : size_t{0};
    fmt::print("\n{} {}\n  {}", verdict_name(file.verdict), file.kind ? file.who() : "file", file.path.string());
    if (file.verdict == Verdict::kAccepted) {
      fmt::print("\n  version {}, score {}, built with {}\n", file.version, file.score, file.build);
    } else {
      fmt::print("\n  {}\n", file.reason);
    }
  }
  fmt::print("\n{} of {} plugin files can be used\n", accepted, registry.files().size());
  return 0;
}

struct CheckArguments {
  std::string plugin;
  // For a backend: run only random cases, the first with this seed.
  std::optional<uint64_t> seed;
  std::optional<uint64_t> cases;
};

int check_command(const HostOptions& host, const CheckArguments& arguments) {
  const std::vector<PluginFolder> folders = plugin_folders({});
  require_environment(folders);
  const Registry registry(folders);
  // A folder of the plugin's name, as `eggroll new` makes it, is not meant.
  const bool is_name = is_plugin_name(arguments.plugin) && fs::is_directory(arguments.plugin);
  const bool is_file = !is_name && fs::exists(arguments.plugin);
  const ChosenPlugin chosen = is_file ? plugin_in_file(arguments.plugin) : named_plugin(registry, arguments.plugin);
  const CallNote note(chosen.file.who(), "while it was checked", Patience::kUnwatched, chosen.file.path);
  const egg_settings none{sizeof(egg_settings), 0, nullptr};
  const std::string kind = kind_name(*chosen.file.kind);
  if (*chosen.file.kind == EGG_KIND_BACKEND) {
    const BackendInstance tested(chosen, none);
    std::optional<BackendInstance> reference;
    if (chosen.file.name != "reference") reference.emplace(registry.choose(EGG_KIND_BACKEND, "reference"), none);
    const BackendInstance* yardstick = reference ? &*reference : nullptr;
    RandomCases random;
    random.seed = arguments.seed.value_or(random.seed);
    random.count = arguments.cases.value_or(random.count);
    if (arguments.seed || arguments.cases) return print_checks(chosen, check_random(tested, yardstick, random));
    const ConfigSearch configs = config_search(host);
    std::vector<Check> checks = check_backend(tested, yardstick, random);
    checks.push_back(check_trajectories(configs, registry, chosen));
    checks.push_back(check_plans(configs, registry, chosen));
    return print_checks(chosen, checks);
  }
  if (arguments.seed || arguments.cases) {
    throw Error(
        fmt::format("--seed and --cases were given for the {}, expected a backend; leave them out", chosen.file.who()));
  }
  if (*chosen.file.kind == EGG_KIND_PROCESSES) {
    const std::vector<Check> checks = check_processes(chosen);
    return checks.empty() ? 0 : print_checks(chosen, checks);
  }
  const BackendInstance reference(registry.choose(EGG_KIND_BACKEND, "reference"), none);
  const ConfigNode config = section_of(host, chosen.file);
  const SettingsBlock block(config, kind, kind == "optimizer" ? kOptimizerHostKeys : kModelHostKeys);
  return print_checks(chosen, *chosen.file.kind == EGG_KIND_MODEL ? check_model(chosen, *block.view(), reference)
                                                                  : check_optimizer(chosen, *block.view(), reference));
}

int new_command(const std::string& kind, const std::string& name, const fs::path& destination) {
  const fs::path installed = executable_folder() / "../share/eggroll";
  new_plugin(kind, name, destination, fs::exists(installed) ? installed : fs::path());
  fmt::print("{} holds your {}; its README.md says how to build and check it\n", destination.string(), kind);
  return 0;
}

}  // namespace

void commands::declare_plugins(CommandLine& line) {
  static bool json = false;
  CLI::App* command = line.add("plugins", "List every plugin file seen, its verdict and the reason",
                               [&line] { return plugins_command(line.host, json); });
  add_json(command, json);
}

void commands::declare_check(CommandLine& line) {
  static CheckArguments arguments;
  CLI::App* command = line.add("check", "Run the conformance cases on a plugin",
                               [&line] { return check_command(line.host, arguments); });
  command
      ->add_option("plugin", arguments.plugin,
                   "A file, or a name (reference, model:gru), also of a file here or in build")
      ->required();
  command->add_option("--seed", arguments.seed, "Run only random cases of a backend, the first with this seed")
      ->check(whole_number(0, UINT64_MAX));
  command->add_option("--cases", arguments.cases, "Run only random cases of a backend, this number of them")
      ->check(whole_number(1, uint64_t{1} << 40));
  command->fallthrough();
}

void commands::declare_new(CommandLine& line) {
  static std::string kind;
  static std::string name;
  static fs::path destination;
  CLI::App* command = line.add("new", "Start a plugin of your own from a template", [] {
    return new_command(kind, name, destination.empty() ? fs::path(name) : destination);
  });
  line.takes(command, "kind", kind, "backend, model or optimizer; other kinds have no template",
             {Words::kThese, {"backend", "model", "optimizer"}})
      ->required();
  command->add_option("name", name, "Its name, lower_snake")->required();
  command->add_option("--into", destination, "The folder to create (default: ./NAME)");
}

}  // namespace eggroll
