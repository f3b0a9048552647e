// HTTP by libcurl; curl_transport.cpp is the only file that includes it.
#pragma once

#include <memory>

#include "agent/llm/http_transport.h"

namespace kagent::llm {

// Keeps its connection between requests. For one thread at a time.
std::unique_ptr<HttpTransport> curl_transport();

}  // namespace kagent::llm
