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
//     key (group a/b under a.b); `- _self_` stands for config.yaml's own values, and is last where it is not given.
//     An option file may inherit: its own list names options of the same group, and `_self_`.
//  2. The experiment, at the top level. Its list may name other experiments, `_self_`, and `override group: option`.
//  3. The overrides, in their order: `a.b=c`, `+a.b=c`, `~a.b`.
// Which option a group takes is settled before all that: `group=option` of the overrides wins over the experiment's
// `override`, that over config.yaml; `experiment=name` needs no entry in its list. The last of several wins.
// ${...} is replaced at the end. Throws Error with file and line, or with the override's text.
ConfigNode compose(const ConfigSearch& search, const std::vector<std::string>& overrides);

}  // namespace eggroll

#endif
