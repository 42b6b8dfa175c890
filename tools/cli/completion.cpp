// eggroll completion, eggroll man, and what the scripts of shells ask for.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/commands.h"
#include "cli/misuse.h"
#include "cli/runs.h"
#include "eggroll/error.h"
#include "record/record.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

class Completer {
 public:
  Completer(const CommandLine& line, const std::vector<std::string>& words) : line_(line), words_(words) {}

  void complete() {
    if (words_.empty()) return;
    find_command();
    const CLI::App& command = command_ != nullptr ? *command_ : line_.app;
    if (const CLI::Option* option = option_before(command)) {
      values_of(option);
    } else if (words_.back().starts_with('-')) {
      options_of(command);
    } else if (command_ == nullptr) {
      commands();
    } else {
      values_of(positional());
    }
  }

  std::string text() const {
    std::string text;
    for (const auto& [word, meaning] : found_) text += meaning.empty() ? word + "\n" : word + "\t" + meaning + "\n";
    return text;
  }

 private:
  // The command and the words behind it that are no options, up to the last word.
  void find_command() {
    for (size_t i = 0; i + 1 < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (word == "--config-dir" && i + 2 < words_.size()) {
        host_.config_dirs.emplace_back(words_[++i]);
      } else if (word.starts_with('-')) {
        continue;
      } else if (command_ != nullptr) {
        ++positionals_;
        overrides_.push_back(word);
      } else {
        command_ = &command_named(line_.app, word);  // nothing follows an unknown one
      }
    }
  }

  // The option whose value the last word is.
  const CLI::Option* option_before(const CLI::App& command) const {
    if (words_.size() < 2) return nullptr;
    const std::string& before = words_[words_.size() - 2];
    for (const CLI::App* each : {&command, &line_.app}) {
      const CLI::Option* option = before.starts_with("--") ? each->get_option_no_throw(before) : nullptr;
      if (option != nullptr && option->get_items_expected_max() > 0) return option;
    }
    return nullptr;
  }

  // The positional of the command that the last word is of; null where the command takes no more words.
  const CLI::Option* positional() const {
    size_t taken = 0;
    for (const CLI::Option* option : command_->get_options()) {
      if (option->get_positional()) taken += static_cast<size_t>(option->get_items_expected_max());
      if (positionals_ < taken) return option;
    }
    return nullptr;
  }

  // Offers nothing where the command declared nothing. The shell then completes names of files.
  void values_of(const CLI::Option* option) {
    const auto declared = line_.offers.find(option);
    if (declared == line_.offers.end()) return;
    switch (declared->second.words) {
      case Words::kThese:
        for (const std::string& word : declared->second.these) offer(word);
        return;
      case Words::kCommands:
        return commands();
      case Words::kRuns:
        return runs();
      case Words::kCheckpoints:
        return checkpoints();
      case Words::kResults:
        runs();
        return sweeps();
      case Words::kSections:
        return groups_and_sections();
      case Words::kKeys:
        return keys();
      case Words::kOverrides:
        return overrides();
      case Words::kConditions:
        sweeps();
        for (const std::string& status : status_names()) offer("status=" + status);
        return keys();
    }
  }

  // A line holds a word and its meaning: a name with a newline or a tab would become others.
  void offer(const std::string& word, const std::string& meaning = "") {
    const std::string whole = sign_ + word;
    if (whole.starts_with(words_.back()) && shown(whole) == whole) found_.emplace(whole, shown(meaning));
  }
  void commands() {
    for (const CLI::App* sub : line_.app.get_subcommands({})) offer(sub->get_name(), sub->get_description());
  }
  void options_of(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) offer("--" + name, option->get_description());
    }
  }

  void runs() {
    for (const fs::path& folder : run_folders()) offer(folder.filename().string(), folder.string());
  }

  void checkpoints() {
    const size_t sign = words_.back().rfind('@');
    if (sign == std::string::npos) return runs();
    const std::string run = words_.back().substr(0, sign);
    const std::string name = "step-";
    offer(run + "@last");
    offer(run + "@best");
    for (const auto& entry : fs::directory_iterator(existing_run(run).path / "checkpoints")) {
      const std::string folder = entry.path().filename().string();
      const std::string step = folder.starts_with(name) ? folder.substr(name.size()) : "";
      if (step.empty() || step.find_first_not_of("0123456789") != std::string::npos) continue;
      offer(run + "@" + step.substr(std::min(step.find_first_not_of('0'), step.size() - 1)));
    }
  }

  void sweeps() {
    for (const fs::path& folder : sweep_folders()) offer(folder.filename().string(), folder.string());
  }

  void groups_and_sections() {
    for (const std::string& group : group_names(config_search(host_))) offer(group);
    const ConfigNode config = compose(config_search(host_), {});
    for (const auto& [key, value] : config.map()) offer(key);
  }

  // group=option, and keys up to their next dot. Each may have a sign before it, which is kept.
  void overrides() {
    const std::string& whole = words_.back();
    sign_ = whole.starts_with("++") ? "++" : whole.starts_with('+') ? "+" : whole.starts_with('~') ? "~" : "";
    const std::string word = whole.substr(sign_.size());
    const ConfigSearch search = config_search(host_);
    const size_t sign = word.find('=');
    if (sign != std::string::npos) {
      const std::string group = word.substr(0, sign);
      if (!is_path(group)) return;
      for (const std::string& option : option_names(search, group)) offer(group + "=" + option);
      return;
    }
    for (const std::string& group : group_names(search)) offer(group + "=", "a group");
    keys();
  }

  void keys() {
    if (words_.back().find('=') != std::string::npos) return;
    std::vector<std::string> chosen = overrides_;
    std::erase_if(chosen, [](const std::string& word) { return word.find('=') == std::string::npos; });
    add_keys("", compose(config_search(host_), chosen));
  }

  void add_keys(const std::string& path, const ConfigNode& node) {
    if (node.kind() != ConfigNode::Kind::kMap) return offer(path + "=");
    for (const auto& [key, value] : node.map()) {
      const std::string below = join_path(path, key);
      if (words_.back().starts_with(sign_ + below + ".") || value.kind() != ConfigNode::Kind::kMap) {
        add_keys(below, value);
      } else {
        offer(below + ".");
      }
    }
  }

  const CommandLine& line_;
  const std::vector<std::string>& words_;
  HostOptions host_;
  const CLI::App* command_ = nullptr;
  size_t positionals_ = 0;  // of the command, before the last word
  std::vector<std::string> overrides_;
  std::string sign_;  // of the override that the last word is: "+", "++", "~" or none
  std::map<std::string, std::string> found_;
};

// readline ends words at '=', and only what is behind it is replaced. It puts candidates into the line as they are, so
// that the names of folders are quoted here, as zsh and fish do by themselves.
constexpr const char* kBash = R"(_eggroll() {
  local line="${COMP_LINE:0:COMP_POINT}" current prefix="" candidate special='[^A-Za-z0-9_.,=:@%/+~-]'
  local -a words
  read -r -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  current="${words[${#words[@]}-1]}"
  [[ "$COMP_WORDBREAKS" == *=* && "$current" == *=* ]] && prefix="${current%=*}="
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    [[ -n "$candidate" ]] || continue
    candidate="${candidate#"$prefix"}"
    [[ "$candidate" =~ $special ]] && printf -v candidate %q "$candidate"
    COMPREPLY+=("$candidate")
  done < <("${words[0]}" complete "${words[@]:1}" 2> /dev/null)
  [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *[=.] ]] && compopt -o nospace
  return 0
}
complete -o default -F _eggroll eggroll
)";

constexpr const char* kZsh = R"(#compdef eggroll
_eggroll() {
  local candidate meaning
  local -a open whole
  while IFS=$'\t' read -r candidate meaning; do
    if [[ "$candidate" == *[=.] ]]; then open+=("$candidate"); else whole+=("$candidate"); fi
  done < <("${words[1]}" complete "${(@)words[2,CURRENT]}" 2> /dev/null)
  (( ${#open} + ${#whole} == 0 )) && { compset -P 1 '*='; _files; return; }
  (( ${#open} )) && compadd -S '' -- "${open[@]}"
  (( ${#whole} )) && compadd -- "${whole[@]}"
  return 0
}
if [[ "${funcstack[1]}" == _eggroll ]]; then _eggroll "$@"; else compdef _eggroll eggroll; fi
)";

constexpr const char* kFish = R"(function __eggroll_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] complete $words[2..-1] 2> /dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    set -l key (string match -r '^[^=-][^=]*=' -- $words[-1])
    for path in (__fish_complete_path (string replace -- "$key" '' $words[-1]))
      printf '%s%s\n' "$key" $path
    end
  end
end
complete -c eggroll -f -a '(__eggroll_complete)'
)";

// A line of text for man: '-' stays itself, and no line begins with a request.
std::string man_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return (escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" : "") + escaped + "\n";
}

std::string man_options(const CLI::App& app) {
  std::string page;
  for (const CLI::Option* option : app.get_options()) {
    page += ".TP\n.B " + man_text(option->get_name(true, true)) + man_text(option->get_description());
  }
  return page;
}

// The script that makes a shell ask for completions.
std::string completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  throw Error(fmt::format("unknown shell '{}', expected bash, zsh or fish; name one of these", shell));
}

std::string manual_page(const CLI::App& app) {
  std::string page = fmt::format(".TH EGGROLL 1 \"\" \"{}\"\n.SH NAME\neggroll \\- {}", app.version(),
                                 man_text(app.get_description()));
  page += ".SH SYNOPSIS\n.B eggroll\n[options] command [arguments]\n.SH OPTIONS\n" + man_options(app);
  page += ".SH COMMANDS\n";
  for (const CLI::App* sub : app.get_subcommands({})) {
    page += ".SS " + man_text("eggroll " + sub->get_name()) + man_text(sub->get_description()) + man_options(*sub);
  }
  return page;
}

}  // namespace

void print_completions(const CommandLine& line, const std::vector<std::string>& words) {
  Completer completer(line, words);
  try {
    completer.complete();
  } catch (const std::exception&) {
    // A shell asks at every key: what is wrong is said when the command runs.
  }
  fmt::print("{}", completer.text());
}

void commands::declare_completion(CommandLine& line) {
  static std::string shell;
  CLI::App* command =
      line.add("completion", "Print the script that completes command lines: source <(eggroll completion bash)", [] {
        fmt::print("{}", completion_script(shell));
        return 0;
      });
  line.takes(command, "shell", shell, "bash, zsh or fish", {Words::kThese, {"bash", "zsh", "fish"}})->required();
}

void commands::declare_man(CommandLine& line) {
  line.add("man", "Print the manual page: eggroll man > eggroll.1", [&line] {
    fmt::print("{}", manual_page(line.app));
    return 0;
  });
}

}  // namespace eggroll
