#include "agent/llm/curl_transport.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>

namespace kagent::llm {
namespace {

constexpr std::size_t kMostHeaders = 200;

struct Handle {
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;
  ~Handle() { curl_slist_free_all(headers); }
};

using Time = std::chrono::steady_clock::time_point;

struct Transfer {
  const HttpRequest& request;
  const HttpTransport::OnBody& on_body;
  const HttpTransport::Cancelled& cancelled;
  HttpResponse response;
  std::size_t received = 0;
  curl_off_t moved = 0;  // bytes either way when last looked
  Time moved_at = std::chrono::steady_clock::now();
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// One header line; a status line begins the head anew (100 Continue, a proxy's own head).
std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* user) {
  HttpHead& head = static_cast<Transfer*>(user)->response.head;
  const std::string_view line(bytes, count);
  if (line.substr(0, 5) == "HTTP/") {
    head = {};
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) head.status = std::atoi(std::string(line.substr(space + 1, 3)).c_str());
    return count;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || head.headers.size() >= kMostHeaders) return count;
  std::string name(trimmed(line.substr(0, colon)));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  head.headers.emplace_back(std::move(name), trimmed(line.substr(colon + 1)));
  return count;
}

std::size_t on_piece(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.received += count;
  if (transfer.received > transfer.request.most_bytes) {
    transfer.response.broken = Broken::kTooLarge;
    return 0;
  }
  if (!transfer.on_body(transfer.response.head, {bytes, count})) {
    transfer.response.broken = Broken::kCancelled;
    return 0;
  }
  return count;
}

// Called at least once a second. Watches for silence itself: curl's LOW_SPEED_TIME goes by an average over seconds.
int on_progress(void* user, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up) {
  auto& transfer = *static_cast<Transfer*>(user);
  const Time now = std::chrono::steady_clock::now();
  if (down + up != transfer.moved) {
    transfer.moved = down + up;
    transfer.moved_at = now;
  }
  const double idle_s = std::chrono::duration<double>(now - transfer.moved_at).count();
  if (transfer.cancelled && transfer.cancelled()) {
    transfer.response.broken = Broken::kCancelled;
  } else if (idle_s > transfer.request.idle_timeout_s) {
    transfer.response.broken = Broken::kTimeout;
    transfer.response.problem = fmt::format("nothing came for {:.0f} s", idle_s);
  }
  return transfer.response.broken == Broken::kNo ? 0 : 1;
}

// Workers that are started while a request runs must not inherit its connection.
int close_on_exec(void*, curl_socket_t socket, curlsocktype) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  return CURL_SOCKOPT_OK;
}

Broken broken_by(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Broken::kNo;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Broken::kAddress;
    case CURLE_COULDNT_CONNECT:
      return Broken::kConnect;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return Broken::kTls;
    case CURLE_OPERATION_TIMEDOUT:
      return Broken::kTimeout;
    case CURLE_FILESIZE_EXCEEDED:
      return Broken::kTooLarge;
    default:
      return Broken::kCut;
  }
}

long whole(double seconds) { return std::max(1L, std::lround(std::ceil(std::min(seconds, 1e6)))); }

class CurlTransport : public HttpTransport {
 public:
  CurlTransport() {
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);  // C++ makes this thread-safe
    if (once == CURLE_OK) curl_ = curl_easy_init();
  }
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  ~CurlTransport() override {
    if (curl_ != nullptr) curl_easy_cleanup(curl_);
  }

  HttpResponse send(const HttpRequest& request, const OnBody& on_body, const Cancelled& cancelled) override {
    Transfer transfer{request, on_body, cancelled, {}};
    if (curl_ == nullptr) return {{}, Broken::kCut, "libcurl could not be initialised"};
    char why[CURL_ERROR_SIZE] = "";
    Handle handle{curl_};
    curl_easy_reset(curl_);  // keeps connections
    set_target(request, handle, why);
    set_limits(request);
    set_callbacks(transfer);
    const CURLcode code = curl_easy_perform(curl_);
    if (transfer.response.broken == Broken::kNo) transfer.response.broken = broken_by(code);
    if (transfer.response.broken == Broken::kTimeout && !connected()) transfer.response.broken = Broken::kConnect;
    if (transfer.response.broken == Broken::kTooLarge)
      transfer.response.problem = fmt::format("the response is larger than {} bytes", request.most_bytes);
    else if (code != CURLE_OK && transfer.response.problem.empty())
      transfer.response.problem = why[0] != '\0' ? why : curl_easy_strerror(code);
    curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, nullptr);
    curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, nullptr);
    return std::move(transfer.response);
  }

 private:
  void set_target(const HttpRequest& request, Handle& handle, char* why) {
    for (const auto& [name, value] : request.headers) {
      const std::string line = fmt::format("{}: {}", name, value);
      if (curl_slist* longer = curl_slist_append(handle.headers, line.c_str())) handle.headers = longer;
    }
    if (curl_slist* longer = curl_slist_append(handle.headers, "Expect:")) handle.headers = longer;
    curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl_, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, handle.headers);
    curl_easy_setopt(curl_, CURLOPT_USERAGENT, "kagent");
    curl_easy_setopt(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl_, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl_, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl_, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (request.method == "GET") {
      curl_easy_setopt(curl_, CURLOPT_HTTPGET, 1L);
    } else {
      curl_easy_setopt(curl_, CURLOPT_POST, 1L);
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, request.body.c_str());
    }
  }

  void set_limits(const HttpRequest& request) {
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_TCP_KEEPALIVE, 1L);  // a silent, thinking model behind a NAT
    curl_easy_setopt(curl_, CURLOPT_CONNECTTIMEOUT, whole(request.connect_timeout_s));
    if (request.deadline_s > 0) {
      const double most_ms = std::min(request.deadline_s, 1e6) * 1e3;
      curl_easy_setopt(curl_, CURLOPT_TIMEOUT_MS, std::max(1L, std::lround(most_ms)));
    }
  }

  void set_callbacks(Transfer& transfer) {
    curl_easy_setopt(curl_, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl_, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, on_piece);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(curl_, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl_, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl_, CURLOPT_XFERINFODATA, &transfer);
    curl_easy_setopt(curl_, CURLOPT_SOCKOPTFUNCTION, close_on_exec);
  }

  bool connected() {
    curl_off_t us = 0;
    return curl_easy_getinfo(curl_, CURLINFO_PRETRANSFER_TIME_T, &us) == CURLE_OK && us > 0;
  }

  CURL* curl_ = nullptr;
};

}  // namespace

std::unique_ptr<HttpTransport> curl_transport() { return std::make_unique<CurlTransport>(); }

}  // namespace kagent::llm
