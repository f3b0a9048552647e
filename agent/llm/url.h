// Addresses: what users give as base_url, in all the forms they do, made into one endpoint.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent::llm {

// "https://host/api/v1" from "https://host/api/", "https://host/api/v1/" or "https://host/api/v1/chat/completions".
// `version` ("v1") is added unless a path segment is a version already (v1, v4, v1beta); a base that ends in one of the
// three endpoints itself loses it and gets no version added.
// Errors: kUsage (no scheme, another scheme than http or https, user and password, a query).
Result<std::string> base_of(std::string_view base_url, std::string_view version);

// "https://host:8000" of an address that base_of accepted.
std::string_view origin_of(std::string_view url);

// A host that is this machine: localhost, 127.x.x.x, [::1].
bool is_loopback(std::string_view url);

}  // namespace kagent::llm
