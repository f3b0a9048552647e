// The seam to the network. Production: curl_transport.h; tests: a fake.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kagent::llm {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "POST";  // or "GET"
  std::string url;
  Headers headers;  // the key is here and nowhere else
  std::string body;
  double connect_timeout_s = 20;
  double idle_timeout_s = 600;                     // seconds without a byte
  double deadline_s = 0;                           // of the whole transfer; 0: none
  std::size_t most_bytes = std::size_t{64} << 20;  // of the response's body
};

struct HttpHead {
  int status = 0;
  Headers headers;  // names in lower case

  // The first header of that (lower-case) name, or "".
  [[nodiscard]] std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

// Why a transfer ended before its end.
enum class Broken {
  kNo,
  kAddress,    // the host name is unknown or the URL is malformed
  kConnect,    // nothing accepts connections there
  kTls,        // the certificate cannot be trusted
  kTimeout,    // connecting, idle or past the deadline
  kCut,        // the connection broke in the middle
  kTooLarge,   // more than most_bytes
  kCancelled,  // on_body or cancelled asked for it
};

struct HttpResponse {
  HttpHead head;  // status 0 if none came
  Broken broken = Broken::kNo;
  std::string problem;  // one line when broken
};

class HttpTransport {
 public:
  // Called with each piece of the body as it comes; false ends the transfer.
  using OnBody = std::function<bool(const HttpHead& head, std::string_view piece)>;
  using Cancelled = std::function<bool()>;  // asked at least once a second

  virtual ~HttpTransport() = default;
  // Never follows redirects: the key must not travel to another host.
  virtual HttpResponse send(const HttpRequest& request, const OnBody& on_body, const Cancelled& cancelled) = 0;
};

}  // namespace kagent::llm
