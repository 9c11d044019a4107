#include "regroup/reproduce/presets.h"

#include <gtest/gtest.h>

#include "regroup/methods/method.h"
#include "support/user_error.h"

namespace regroup {
namespace {

std::vector<GivenValue> given(const std::string& name, const SettingValue& value) {
  return {{name, value, "--" + name}};
}

TEST(Presets, EveryOneResolvesForEveryMethod) {
  for (const Preset& preset : presets())
    for (const MethodInfo& method : methods()) {
      const auto values = preset_values(preset.name, method.name);
      EXPECT_EQ(resolve_settings({values, given("method", std::string(method.name))}).text("method"), method.name)
          << preset.name;
    }
}

TEST(Presets, AMethodHasTheSettingsOfItsRow) {
  const auto of = [](const char* preset, const char* method) {
    return resolve_settings({preset_values(preset, method), given("method", std::string(method))});
  };
  const Settings joint = of("cifar10-pair-0.45", "joint-optim");
  EXPECT_EQ(joint.integer("epochs"), 320);
  EXPECT_EQ(joint.number("joint-rate"), 0.15);
  EXPECT_EQ(joint.number("prior-weight"), 0.8);
  EXPECT_EQ(of("cifar100-sym-0.5", "forward").text("lr-steps"), "0.5333, 0.8");
  EXPECT_EQ(of("webvision-semi", "sel-cl").number("class-quantile"), 0.4);
  EXPECT_EQ(of("webvision-semi", "sel-cl").integer("epochs"), 180);
  // One without a row has what all rows have.
  EXPECT_EQ(of("cifar10-sym-0.5", "gce").integer("epochs"), 200);
  EXPECT_EQ(of("cifar10-sym-0.5", "gce").text("model"), "resnet18");
  EXPECT_EQ(of("cifar10-sym-0.5", "gce").text("noise"), "symmetric:0.5");
}

TEST(Presets, TheirNamesAreUniqueAndTold) {
  for (std::size_t i = 1; i < presets().size(); ++i) EXPECT_LT(presets()[i - 1].name, presets()[i].name);
  EXPECT_EQ(presets().front().name, "cifar10-inst-0.2");
  EXPECT_EQ(presets().front().title, "Table 1: CIFAR-10, Instance 0.2");
  EXPECT_NE(user_error([] { preset_values("cifar10"); }).find("unknown preset 'cifar10'; known: cifar10-inst-0.2"),
            std::string::npos);
}

/// METHODS of the paper's appendix: k by dataset and noise.
TEST(Presets, HaveThePapersK) {
  const auto k = [](const char* name) { return resolve_settings({preset_values(name)}).text("k"); };
  EXPECT_EQ(k("cifar10-sym-0.2"), "600");
  EXPECT_EQ(k("cifar10-sym-0.5"), "200");
  EXPECT_EQ(k("cifar10-pair-0.45"), "200");
  EXPECT_EQ(k("cifar10-inst-0.2"), "600");
  EXPECT_EQ(k("cifar10-inst-0.4"), "200");
  EXPECT_EQ(k("cifar100-sym-0.2"), "50");
  EXPECT_EQ(k("cifar100-sym-0.5"), "20");
  EXPECT_EQ(k("cifar10-semi-sym-0.8"), "60");
  EXPECT_EQ(k("cifar10-semi-inst-0.2"), "600");
  EXPECT_EQ(k("cifar100-semi-pair-0.45"), "20");
  EXPECT_EQ(k("cifar100-semi-sym-0.8"), "6");
  EXPECT_EQ(k("clothing1m"), "200");
  EXPECT_EQ(k("clothing1m-semi"), "200");
  EXPECT_EQ(presets().size(), 26U);
}

/// What METHODS has of the two sets of photos.
TEST(Presets, OfPhotosHaveThePapersSettings) {
  for (const char* name : {"clothing1m", "clothing1m-semi", "webvision", "webvision-semi"}) {
    SCOPED_TRACE(name);
    const Settings settings = resolve_settings({preset_values(name)});
    const bool is_clothing = settings.text("data") == "clothing1m", is_semi = settings.text("method") == "rml-semi";
    EXPECT_EQ(settings.text("model"), "resnet50");
    EXPECT_EQ(settings.integer("resize"), is_clothing ? 256 : 320);
    EXPECT_EQ(settings.integer("image-size"), 224);
    EXPECT_EQ(settings.text("crop"), "random");
    EXPECT_EQ(settings.integer("batch-size"), 32);
    EXPECT_EQ(settings.number("lr"), is_clothing ? 0.002 : 0.01);
    EXPECT_EQ(settings.number("min-lr"), 2e-5);
    EXPECT_EQ(settings.number("weight-decay"), 5e-4);
    EXPECT_EQ(settings.text("schedule"), "cosine");
    EXPECT_EQ(settings.integer("epochs"), is_semi && !is_clothing ? 300 : 200);
    EXPECT_EQ(settings.integer("epoch-batches"), is_clothing ? 1000 : 0);
    EXPECT_EQ(settings.flag("epoch-balance"), is_clothing);
    EXPECT_EQ(settings.flag("top5"), !is_clothing);
    EXPECT_EQ(settings.integer("n"), 6);
    EXPECT_EQ(settings.number("select"), is_clothing ? 0 : 0.75);
    if (!is_semi) continue;
    EXPECT_EQ(settings.integer("warmup-epochs"), is_clothing ? 10 : 200);
    EXPECT_EQ(settings.number("lambda-u"), 0);
    EXPECT_EQ(settings.number("mix-alpha"), 0.5);
    EXPECT_EQ(settings.number("mix-alpha-late"), 0.5);
  }
}

TEST(Presets, SayWhichFileTheyNeed) {
  const auto preset = preset_values("clothing1m");
  EXPECT_EQ(preset_need("clothing1m", resolve_settings({preset})),
            "preset clothing1m: init-weights is not given; the paper starts from a ResNet-50 that was trained on "
            "ImageNet");
  EXPECT_EQ(preset_need("clothing1m", resolve_settings({preset, given("init-weights", std::string("r.safetensors"))})),
            "");
  EXPECT_EQ(preset_need("webvision", resolve_settings({preset_values("webvision")})), "");
  EXPECT_EQ(
      preset_need("cifar10-sym-0.5", resolve_settings({preset_values("cifar10-sym-0.5", "dmi")})),
      "preset cifar10-sym-0.5: ce-weights is not given; DMI starts from a finished run of ce, whose epochs are not "
      "among its own; now its first epochs are cross-entropy");
}

}  // namespace
}  // namespace regroup
