// Composition, as Hydra does it: config.yaml, one option of each group, an experiment, then the command line.
#ifndef EGGROLL_CONFIG_COMPOSE_H
#define EGGROLL_CONFIG_COMPOSE_H

#include <string>
#include <vector>

#include "config/config_file.h"
#include "config/tree.h"

namespace eggroll {

// The resolved configuration: a function of the files, the overrides and the environment variables they name.
//
// The layers, each over those before it, as overlay() says:
//  1. The defaults list of config.yaml in its order. `- group: option` puts configs/group/option.yaml under the group's
//     key (group a/b under a.b), or at the top where the file's first comment says `# @package _global_`;
//     `- group: null` none. `- _self_` stands for config.yaml's own values, and is last where it is not given. An
//     option file may inherit: its own list names options of the same group, and `_self_`; where its values go is what
//     the option says which was chosen.
//  2. The experiment, at the top level. Its list may name other experiments, `_self_`, `override group: option`, and
//     `group: option` of groups that config.yaml does not choose. A slash before a group's name changes nothing.
//  3. The overrides, in their order; see override.h and value.h.
// The option of each group is chosen before all that. `group=option` on the command line wins over the experiment's
// `override`, which wins over config.yaml. `+group=option` adds a group at the list's end, `~group` removes one.
// `experiment=x` and `+experiment=x` are the same and need no entry in the list. Of several choices the last wins.
// ${...} is replaced at the end. Throws Error with file and line, or with the override's text.
ConfigNode compose(const ConfigSearch& search, const std::vector<std::string>& overrides);

// The override with each of the values that its sweep holds; as it is where it holds none. Throws Error.
std::vector<std::string> each_value(const ConfigSearch& search, const std::string& text);

// Hydra's multirun: every combination of what the overrides' sweeps hold, as overrides without sweeps; the last sweep
// changes fastest. glob() is replaced by the options that match. Throws Error as compose() does for what it reads, and
// where there are more than 100,000 combinations.
std::vector<std::vector<std::string>> expand_sweeps(const ConfigSearch& search,
                                                    const std::vector<std::string>& overrides);

}  // namespace eggroll

#endif
