// A prompt set's templates, which users edit. Input: four texts, see next_part(): prompt.md, feedback.md, example.md
// and a verdict.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/json_text.h"
#include "agent/prompt/render.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  PromptSet set;
  set.name = "fuzz";
  for (const char* file : {"prompt.md", "feedback.md", "example.md"}) set.files[file] = next_part(bytes);
  set.files["device_header.md"] = "header";
  PromptInput input;
  input.source = "class Model: pass";
  const auto verdict = parse_json(next_part(bytes));
  EarlierSample sample;
  if (verdict) sample.verdict = verdict.value();
  sample.cuda = "{{#source}}{{{source}}}{{/source}}\n";
  input.earlier = {sample, sample, sample};
  const auto prompt = render_prompt(set, input);
  if (!prompt) require(prompt.error().message.starts_with("prompts/fuzz/"));
  return 0;
}
