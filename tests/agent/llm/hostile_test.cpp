// The fuzz entry on mutations of good replies: the same ones at every run.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/mutated.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

const std::vector<std::string> kSeeds = {
    "data: "
    "{\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_"
    "tokens\":1}}\r\n\r\ndata: [DONE]\n\n",
    "event: message_start\ndata: "
    "{\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
    "data: "
    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"h\\u00e9\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":"
    "{\"promptTokenCount\":5}}\n\n",
    "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"length\"}],\"usage\":{\"completion_tokens\":7}"
    "}",
    "{\"error\":{\"message\":\"boo\",\"type\":\"overloaded_error\",\"code\":500}}",
    "[{\"error\":{\"code\":400,\"message\":\"API key not valid\",\"status\":\"INVALID_ARGUMENT\"}}]",
    "[[price]]\nmodel = \"m*\"\ninput = 1.5\ncached = 0.1\noutput = 2\n",
    "https://user@host:80/api/v1/chat/completions",
    "Sun, 06 Nov 1994 08:49:37 GMT",
};

void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

TEST(Hostile, GoodRepliesCutAtEveryByte) {
  for (const std::string& seed : kSeeds) {
    for (std::size_t size = 0; size <= seed.size(); ++size) feed(seed.substr(0, size));
  }
}

TEST(Hostile, MutatedReplies) {
  std::mt19937 generator(20261201);
  for (int round = 0; round < 2000; ++round) {
    for (const std::string& seed : kSeeds) feed(kagent::mutated(seed, generator));
  }
}

TEST(Hostile, DeepAndLongReplies) {
  feed(std::string(200000, '['));
  feed("{\"a\":" + std::string(200000, '{'));
  feed("data: " + std::string(1 << 20, 'x'));
  feed(std::string(1 << 16, '\n'));
  feed("price = " + std::string(5000, '['));
}

}  // namespace
