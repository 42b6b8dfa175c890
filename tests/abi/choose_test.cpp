// A forced choice is obeyed or refused, never replaced; auto takes the highest score and says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "abi_support.h"
#include "plugin/registry.h"
#include "system/files.h"

namespace eggroll {
namespace {

TEST(Choose, ObeysAName) {
  const Registry registry = registry_of({"slow", "quick"});
  const ChosenPlugin chosen = registry.choose(EGG_KIND_BACKEND, "slow");
  EXPECT_EQ(chosen.file.name, "slow");
  EXPECT_EQ(chosen.reason, "asked for by name");
  EXPECT_EQ(chosen.sha256, sha256_file(plugin_path("slow")));
  EXPECT_EQ(chosen.limit, kTestLimit);
}

TEST(Choose, AutoTakesTheHighestScore) {
  const ChosenPlugin chosen = registry_of({"quick", "cannot_run", "slow"}).choose(EGG_KIND_BACKEND, "auto");
  EXPECT_EQ(chosen.file.name, "quick");
  EXPECT_EQ(chosen.reason, "highest score 10 of: slow 1, quick 10");
}

TEST(Choose, AutoBreaksTiesByName) {
  const ChosenPlugin chosen = registry_of({"rapid", "slow", "quick"}).choose(EGG_KIND_BACKEND, "auto");
  EXPECT_EQ(chosen.file.name, "quick");
  EXPECT_EQ(chosen.reason, "highest score 10 of: slow 1, quick 10, rapid 10");
}

TEST(Choose, AutoRefusesWhereNoBackendCanRun) {
  EXPECT_EQ(
      message_of([] {
        registry_of({"cannot_run", "c_model", "cannot_say"}).choose(EGG_KIND_BACKEND, "auto");
      }),
      "no backend can run here: backend 'cannot_run' cannot run here: needs avx512vnni; this CPU reports avx2 f16c; "
      "and backend 'cannot_say' cannot run here: it gave no reason; looked in " +
          plugin_path("cannot_run").parent_path().string() + ", " + plugin_path("c_model").parent_path().string() +
          ", " + plugin_path("cannot_say").parent_path().string() +
          " (set plugins.path or EGGROLL_PLUGIN_PATH to its folder)");
}

TEST(Choose, RefusesAnUnknownNameWithASuggestion) {
  const std::string own = " (for a plugin of your own: set plugins.path or EGGROLL_PLUGIN_PATH to its folder)";
  const Registry registry = registry_of({"slow", "quick", "c_model"});
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_BACKEND, "quack"); }),
            "unknown backend 'quack'; did you mean 'quick'? (known: quick, slow)");
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_BACKEND, "thunderbolt"); }),
            "unknown backend 'thunderbolt'; known: quick, slow" + own);
  // Another kind's name is unknown, and so is `auto`, because only backends have scores.
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_MODEL, "quick"); }),
            "unknown model 'quick'; known: c_model" + own);
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_MODEL, "auto"); }), "unknown model 'auto'; known: c_model" + own);
}

TEST(Choose, RefusesAnUnknownNameWhereNothingIsKnown) {
  EXPECT_EQ(message_of([] { registry_of({"slow"}).choose(EGG_KIND_OPTIMIZER, "sign_es"); }),
            "unknown optimizer 'sign_es'; none is known here; looked in " + plugin_path("slow").parent_path().string() +
                " (set plugins.path or EGGROLL_PLUGIN_PATH to its folder)");
  EXPECT_EQ(message_of([] { Registry({}).choose(EGG_KIND_OPTIMIZER, "sign_es"); }),
            "unknown optimizer 'sign_es'; none is known here; looked in no folder (set plugins.path or "
            "EGGROLL_PLUGIN_PATH to its folder)");
}

// The folders that a run's own configuration names are not searched, but the error names the one that may hold the
// plugin.
TEST(Choose, SaysWhichFolderMayHoldWhatIsMissing) {
  const std::string mine = plugin_path("ramp").parent_path().string();
  const std::string allowed_folder = plugin_path("c_model").parent_path().string();
  const Registry registry(plugin_folders_of_run({allowed_folder}, {mine, allowed_folder, "/nowhere"}));
  const std::string sentence = message_of([&] { registry.choose(EGG_KIND_OPTIMIZER, "ramp"); });
  EXPECT_THAT(
      sentence,
      testing::EndsWith("; " + mine + " (plugins.path of the run) is searched only if you allow it: --plugins " + mine +
                        "; /nowhere (plugins.path of the run) is searched only if you allow it: --plugins /nowhere"));
  EXPECT_EQ(registry.choose(EGG_KIND_MODEL, "c_model").file.path, plugin_path("c_model"));

  const Registry allowed(plugin_folders_of_run({mine}, {mine}));
  EXPECT_EQ(allowed.choose(EGG_KIND_OPTIMIZER, "ramp").file.path, plugin_path("ramp"));

  EXPECT_EQ(message_of([] { plugin_folders({""}); }), "plugins.path holds an empty name, expected folders; remove it");
}

TEST(Choose, RefusesARejectedNameWithItsReason) {
  const Registry registry = registry_of({"quick", "cannot_run", "wrong_spec", "newer_minor", "hangs_in_probe"});
  EXPECT_EQ(
      message_of([&] { registry.choose(EGG_KIND_BACKEND, "cannot_run"); }),
      "backend 'cannot_run' cannot run here: needs avx512vnni; this CPU reports avx2 f16c; choose another backend, "
      "or auto");
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_MODEL, "wrong_spec"); }), registry.files()[2].reason);
  // The descriptor in this file cannot be read, but the file has the plugin's name.
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_BACKEND, "newer_minor"); }),
            plugin_path("newer_minor").string() +
                ": built for plugin ABI 0.12, this host accepts 0.11; rebuild the plugin against this version");
  EXPECT_EQ(message_of([&] { registry.choose(EGG_KIND_BACKEND, "hangs_in_probe"); }),
            "plugin 'hangs_in_probe' has not returned from probe within 1 s; fix or remove " +
                plugin_path("hangs_in_probe").string());
}

TEST(Choose, NamesTheKeyAtFault) {
  try {
    registry_of({"slow"}).choose(EGG_KIND_BACKEND, "fast");
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.key(), "name");
    EXPECT_EQ(e.code(), EGG_ERROR_CONFIG);
  }
}

}  // namespace
}  // namespace eggroll
