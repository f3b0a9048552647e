#include "agent/llm/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "agent/llm/secret.h"

namespace kagent::llm {
namespace {

constexpr std::string_view kEndpoints[] = {"/chat/completions", "/messages", "/models"};

void strip_slashes(std::string_view& text) {
  while (!text.empty() && text.back() == '/') text.remove_suffix(1);
}

// v1, v4, v1beta, v2alpha1
bool is_version(std::string_view segment) {
  return segment.size() >= 2 && segment[0] == 'v' && std::isdigit(static_cast<unsigned char>(segment[1])) != 0;
}

bool has_version(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    if (is_version(path.substr(0, end))) return true;
    path.remove_prefix(end);
  }
  return false;
}

std::size_t host_begin(std::string_view url) { return url.find("://") + 3; }

bool starts_with_scheme(std::string_view url) {
  return url.substr(0, 7) == "http://" || url.substr(0, 8) == "https://";
}

}  // namespace

Result<std::string> base_of(std::string_view base_url, std::string_view version) {
  std::string_view url = base_url;
  const auto refuse = [&](std::string_view why) {
    return Error{Code::kUsage, fmt::format("base URL \"{}\" {}", one_line(base_url), why)};
  };
  if (!starts_with_scheme(url)) {
    if (url.find("://") != std::string_view::npos) return refuse("is neither http:// nor https://");
    return refuse("lacks its beginning: http:// (this machine, own network) or https://");
  }
  for (const unsigned char c : url) {
    if (c <= ' ' || c == 0x7f) return refuse("has a space or a control character in it");
  }
  if (url.find_first_of("?#") != std::string_view::npos) return refuse("must not have a query (? or #)");
  const std::string_view authority = url.substr(host_begin(url), url.find('/', host_begin(url)) - host_begin(url));
  if (authority.empty()) return refuse("names no host");
  if (authority.find('@') != std::string_view::npos)  // not repeated: it holds a password
    return Error{Code::kUsage, "the base URL must not hold a user and password; keys come from the environment"};
  strip_slashes(url);
  for (const std::string_view endpoint : kEndpoints) {
    if (url.size() > endpoint.size() && url.substr(url.size() - endpoint.size()) == endpoint)
      return std::string(url.substr(0, url.size() - endpoint.size()));
  }
  std::string out(url);
  const std::size_t path = url.find('/', host_begin(url));
  if (path == std::string_view::npos || !has_version(url.substr(path))) out += "/" + std::string(version);
  return out;
}

std::string_view origin_of(std::string_view url) { return url.substr(0, url.find('/', host_begin(url))); }

bool is_loopback(std::string_view url) {
  const std::string_view host = origin_of(url).substr(host_begin(url));
  const std::string_view name = host.substr(0, host.front() == '[' ? host.find(']') + 1 : host.find(':'));
  if (name == "localhost" || name == "[::1]") return true;
  return name.substr(0, 4) == "127." && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace kagent::llm
