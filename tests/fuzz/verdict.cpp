// A verdict's JSON as a log has it: read for the terminal, the prompt, the seeds of a second judging; and a plan's
// listing.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/base/json_text.h"
#include "agent/command/verdict_text.h"
#include "agent/judge/check.h"
#include "agent/judge/plan_listing.h"
#include "agent/prompt/render.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent;
  static const PromptSet kSet = load_prompt_set(KAGENT_SOURCE_DIR, "default").value();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)plan_listing(bytes);
  const auto json = parse_json(bytes);
  if (!json) return 0;
  (void)verdict_text(json.value());
  if (const auto seeds = seeds_from_json(json.value())) {
    const auto again = seeds_from_json(to_json(seeds.value()));
    require(again.ok() && to_json(again.value()) == to_json(seeds.value()));
  }
  for (const bool blind : {false, true}) {
    PromptInput input;
    input.device = json.value();  // facts of a device come from a child, too
    input.blind = blind;
    EarlierSample sample;
    sample.cuda = "int a;\nint b;\n";
    sample.compile_log = std::string(bytes);
    sample.verdict = json.value();
    input.earlier = {sample, sample};
    const auto prompt = render_prompt(kSet, input);
    require(prompt.ok());
    (void)nlohmann::json(prompt.value()).dump();  // throws if it is not UTF-8
  }
  return 0;
}
