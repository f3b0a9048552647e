#include "harness/plan/lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/plan/parse.h"
#include "tests/harness/plan/sample.h"

namespace kagent::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(Lifetimes, DropsEachIdAfterItsLastUse) {
  const Lifetimes found = lifetimes(sample::plan());
  EXPECT_THAT(found.drop_after_forward,
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(7), IsEmpty(), IsEmpty(), ElementsAre(10), IsEmpty()));
}

TEST(Lifetimes, KeepsWhatForwardNeedsOfPrepareAndDropsTheRest) {
  const Lifetimes found = lifetimes(sample::plan());
  EXPECT_THAT(found.kept, ElementsAre(5));
  EXPECT_THAT(found.drop_after_prepare, ElementsAre(IsEmpty(), ElementsAre(6)));
}

TEST(Lifetimes, AResultThatNobodyUsesIsDroppedAtOnce) {
  Plan plan = sample::plan();
  plan.tensors.push_back(plan.tensors[7]);
  plan.tensors.back().storage = 11;
  Operator unused{"aten::clone", "", {{TensorRef{0, false}}}, {}, {{TensorRef{11, false}}}};
  plan.forward.insert(plan.forward.begin(), Step{unused, std::nullopt});
  EXPECT_THAT(lifetimes(plan).drop_after_forward.at(0), ElementsAre(11));
}

TEST(Lifetimes, OutputsAndSourcesAreNeverDropped) {
  Plan plan = sample::plan();
  plan.outputs = Tree{Tree::Kind::kTensor, 7, {}, {}};
  const Lifetimes found = lifetimes(plan);
  for (const auto& ids : found.drop_after_forward) EXPECT_THAT(ids, testing::Not(testing::Contains(7)));
  std::vector<TensorId> dropped;
  for (const auto& ids : found.drop_after_forward) dropped.insert(dropped.end(), ids.begin(), ids.end());
  EXPECT_THAT(dropped, UnorderedElementsAre(8, 9, 10));  // 0 to 4 are sources, 5 is prepared
}

TEST(Lifetimes, ATensorInsideAnArrayIsUsed) {
  Plan plan = sample::plan();
  auto& fc = std::get<Launch>(plan.forward[sample::kFc].what);
  fc.args.push_back({Array{{{TensorRef{7, false}}}}});
  EXPECT_THAT(lifetimes(plan).drop_after_forward.at(sample::kFc), UnorderedElementsAre(7, 10));
}

}  // namespace
}  // namespace kagent::plan
