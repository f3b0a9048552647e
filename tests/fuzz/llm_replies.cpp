// Everything that reads a model server's bytes: events, replies, error bodies, headers, addresses.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/llm/dialect.h"
#include "agent/llm/retry.h"
#include "agent/llm/secret.h"
#include "agent/llm/sse.h"
#include "agent/llm/url.h"
#include "tests/fuzz/require.h"

namespace {

void check(const kagent::llm::Partial& partial, std::size_t size) {
  require(partial.text.size() <= 3 * size);  // a reader adds nothing
  for (const auto& count : {partial.usage.input_tokens, partial.usage.output_tokens}) require(!count || *count >= 0);
  (void)partial.metadata.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent::llm;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Dialect* dialect : dialects()) {
    Partial streamed;
    SseReader reader([&](std::string_view event) { dialect->read_event(event, streamed); });
    reader.feed(bytes.substr(0, size / 2));
    reader.feed(bytes.substr(size / 2));
    reader.finish();
    check(streamed, size);
    Partial whole;
    dialect->read_event(bytes, whole);
    if (const nlohmann::json reply = read_json(bytes); reply.is_object()) dialect->read_whole(reply, whole);
    check(whole, size);
  }
  require(one_line(error_message(bytes)).size() <= 303);
  require(retry_after_s(bytes, 1.8e9).value_or(0) >= 0);
  (void)base_of(bytes, "v1");
  return 0;
}
