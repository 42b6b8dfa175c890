// The user's program that reads the unperturbed model's results at each held-out evaluation of a run and answers with
// numbers of its own. It changes nothing of the run but these numbers. docs/runs.md describes both sides.
#ifndef EGGROLL_TRAIN_HOOK_H
#define EGGROLL_TRAIN_HOOK_H

#include <atomic>
#include <optional>
#include <string>

#include "config/tree.h"
#include "eggroll/settings.h"
#include "plugin/instance.h"
#include "train/run_folder.h"
#include "train/setup.h"
#include "train/step_record.h"

namespace eggroll {

// Reads the hook of the section `eval`. words: its value `hook`, nullptr if the run was begun before there were
// hooks.
std::optional<HookSettings> read_hook(Settings& s, const ConfigNode* words);

// Runs the program on the evaluation in the step's record, whose weights the session has. Throws Error, a sentence that
// names the program and quotes what it wrote, if it fails, takes too long, or writes anything but one JSON object of
// names and finite numbers. Setting `stop` ends the program; the result is then nothing.
std::optional<HookNumbers> ask_hook(const HookSettings& hook, const Setup& setup, const RunFolder& folder,
                                    BackendSession& session, const StepRecord& step, const std::atomic<bool>* stop);

// The numbers in a hook's output. Throws Error that says what is wrong: "wrote the name 'a' twice".
HookNumbers hook_numbers_in(const std::string& text);

}  // namespace eggroll

#endif
