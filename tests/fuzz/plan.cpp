// The bytes of a plan: read, printed, read again, held against fixed kernels and a fixed device, packed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/plan/lifetimes.h"
#include "harness/plan/pack.h"
#include "harness/plan/parse.h"
#include "harness/plan/print.h"
#include "harness/plan/validate.h"
#include "tests/fuzz/require.h"

namespace {

using namespace kagent::plan;  // NOLINT

void check(const Problem& problem) {
  require(!problem.kind.empty() && !problem.message.empty());
  for (const char c : problem.message) require(c >= ' ' && c < 127);  // one line, whatever the plan says
}

// Parameters of every kind, so that packing gets something to hold arguments against.
const Kernels& kernels() {
  static const Kernels kMade = [] {
    Kernel kernel;
    kernel.symbol = "k";
    kernel.registers = 32;
    const Param pointer{Param::Kind::kPointer, 8, 8, "float", true};
    kernel.params = {pointer,
                     pointer,
                     pointer,
                     {Param::Kind::kPointer, 8, 8, "float", false},
                     {Param::Kind::kInt, 4, 4, "", {}},
                     {Param::Kind::kFloat, 4, 4, "", {}},
                     {Param::Kind::kStruct, 24, 8, "", {}}};
    return Kernels{{"bn<0>", kernel}};
  }();
  return kMade;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Parsed parsed = parse({reinterpret_cast<const char*>(data), size});
  if (const auto* problem = std::get_if<Problem>(&parsed)) {
    check(*problem);
    return 0;
  }
  const Plan& plan = std::get<Plan>(parsed);
  const std::string printed = to_json(plan);
  const Parsed again = parse(printed);
  require(std::holds_alternative<Plan>(again) && to_json(std::get<Plan>(again)) == printed);

  static const Operators kOperators = Operators::from_text(
      "aten::view\naten::clone\naten::conv2d\naten::empty_like\naten::slice.Tensor\naten::relu_\naten::batch_norm\n");
  const Device h200{"NVIDIA H200", "sm_90a", 132, 232448, 233472, 65536, 2048, 32, 8};
  for (const Mode mode : {Mode::kCandidate, Mode::kCandidateAliasing, Mode::kReference}) {
    if (const auto problem = validate(plan, kernels(), h200, kOperators, mode)) check(*problem);
  }
  (void)lifetimes(plan);
  for (const Step& step : plan.forward) {
    const auto* launch = std::get_if<Launch>(&step.what);
    if (launch == nullptr) continue;
    const Packed packed = pack(*launch, kernels().at("bn<0>"));
    if (const auto* problem = std::get_if<Problem>(&packed)) check(*problem);
  }
  return 0;
}
