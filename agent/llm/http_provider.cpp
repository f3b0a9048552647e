#include "agent/llm/http_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agent/llm/secret.h"
#include "agent/llm/sse.h"
#include "agent/llm/url.h"

namespace kagent::llm {

using nlohmann::json;

namespace {

bool contains_any(std::string text, std::initializer_list<std::string_view> words) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != std::string::npos; });
}

// Gemini answers a wrong key with 400, some proxies too.
bool speaks_of_key(std::string_view body) {
  return contains_any(error_message(body), {"api key", "api_key", "authentication"});
}

// OpenAI answers an empty account with 429; waiting would not fill it.
bool out_of_credit(std::string_view body) {
  const json error = member(read_json(body), "error");
  return text_of(error, "code") == "insufficient_quota" || text_of(error, "type") == "insufficient_quota";
}

std::string_view request_id(const HttpHead& head) {
  for (const char* name : {"x-request-id", "request-id", "x-goog-request-id"}) {
    if (!head.header(name).empty()) return head.header(name);
  }
  return {};
}

bool is_event_stream(const HttpHead& head) { return head.header("content-type").substr(0, 17) == "text/event-stream"; }

}  // namespace

HttpProvider::HttpProvider(const Dialect& dialect, HttpSettings settings, std::unique_ptr<HttpTransport> transport,
                           std::shared_ptr<Clock> clock)
    : dialect_(dialect), settings_(std::move(settings)), transport_(std::move(transport)), clock_(std::move(clock)) {}

std::string HttpProvider::name() const { return fmt::format("{}:{}", dialect_.name, settings_.target.model); }

Error HttpProvider::error(Code code, std::string_view what, std::string_view server_text) const {
  std::string line = fmt::format("{} at {}: {}", name(), origin_of(settings_.base), what);
  const std::string said = one_line(without_key(std::string(server_text), settings_.key));
  if (!said.empty()) line += fmt::format(" (\"{}\")", said);
  return {code, without_key(std::move(line), settings_.key)};
}

Result<json> HttpProvider::build(const Request& request) const {
  if (Status valid = valid_request(request); !valid) return valid.error();
  Result<json> body = dialect_.body(settings_.target, request);
  if (body && !request.extra.empty()) body.value().merge_patch(read_json(request.extra));
  return body;
}

HttpRequest HttpProvider::http_request(const Request& request, const json& body) const {
  HttpRequest http;
  http.url = settings_.base + "/" + dialect_.path(settings_.target, request.stream);
  http.headers = dialect_.headers(settings_.key);
  http.headers.emplace_back("Content-Type", "application/json");
  // A compiler log inside the prompt may hold bytes that are no UTF-8.
  http.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  http.connect_timeout_s = request.connect_timeout_s;
  http.idle_timeout_s = request.idle_timeout_s;
  return http;
}

Result<Answer> HttpProvider::complete(const Request& request, Progress& progress) {
  const Result<json> body = build(request);
  if (!body) return body.error();
  HttpRequest http = http_request(request, body.value());
  const double begin_s = clock_->now_s();
  const auto left_s = [&] { return *request.deadline_s - (clock_->now_s() - begin_s); };
  std::vector<Attempt> attempts;
  while (true) {
    if (request.deadline_s) http.deadline_s = std::max(0.001, left_s());
    Trial trial = try_once(http, progress);
    trial.attempt.number = static_cast<int>(attempts.size()) + 1;
    std::optional<Failure> failure = trial.failure;
    const bool again = failure && failure->transient && trial.attempt.number < settings_.retry.most_attempts &&
                       failure->retry_after_s.value_or(0) <= settings_.retry.most_retry_after_s;
    if (again) trial.attempt.wait_s = wait_s(settings_.retry, trial.attempt.number, failure->retry_after_s, *clock_);
    const bool in_time = !again || !request.deadline_s || trial.attempt.wait_s < left_s();
    if (!in_time) trial.attempt.wait_s = 0;
    progress.attempt(trial.attempt);
    attempts.push_back(trial.attempt);
    if (!failure) return Answer(reply_of(std::move(trial), http, body.value(), std::move(attempts)));
    if (!again && attempts.size() > 1) return failure->error.within(fmt::format("after {} attempts", attempts.size()));
    if (!again) return failure->error;
    if (!in_time) return Error{Code::kTimeout, "no time left for another attempt: " + failure->error.message};
    progress.say(fmt::format("{}; trying again in {:.0f} s (attempt {} of {})", failure->error.message,
                             std::ceil(trial.attempt.wait_s), trial.attempt.number + 1, settings_.retry.most_attempts));
    if (Status waited = pause(trial.attempt.wait_s, progress); !waited) return waited.error();
  }
}

HttpProvider::Trial HttpProvider::try_once(const HttpRequest& http, Progress& progress) {
  Trial trial;
  std::string whole;  // of a body that is no event stream
  bool cancelled = false;
  SseReader reader([&](std::string_view data) { dialect_.read_event(data, trial.partial); });
  const auto on_body = [&](const HttpHead& head, std::string_view piece) {
    if (head.status != 200 || !is_event_stream(head)) {
      whole += piece;
      return true;
    }
    reader.feed(piece);
    progress.received(trial.partial.text.size());
    return !(cancelled = progress.cancelled());
  };
  const double begin_s = clock_->now_s();
  const HttpResponse response =
      transport_->send(http, on_body, [&] { return cancelled = cancelled || progress.cancelled(); });
  if (response.head.status == 200) {
    if (is_event_stream(response.head)) {
      reader.finish();
    } else if (const json reply = read_json(whole); reply.is_object()) {
      dialect_.read_whole(reply, trial.partial);
    } else {
      trial.partial.malformed = true;
    }
  }
  reached_ = reached_ || response.head.status != 0;
  trial.failure = judge(response, trial.partial, whole);
  trial.head = response.head;
  trial.attempt.elapsed_s = clock_->now_s() - begin_s;
  trial.attempt.http_status = response.head.status;
  trial.attempt.request_id = without_key(one_line(request_id(response.head), 200), settings_.key);
  trial.attempt.usage = trial.partial.usage;
  if (trial.failure) trial.attempt.problem = trial.failure->error.message;
  return trial;
}

std::optional<HttpProvider::Failure> HttpProvider::judge(const HttpResponse& response, const Partial& partial,
                                                         std::string_view body) {
  if (response.broken != Broken::kNo && !(response.broken == Broken::kCut && partial.ended))
    return broken_failure(response);
  if (response.head.status != 200) return status_failure(response.head, body);
  if (!partial.error.empty()) {
    const Code code = partial.error_is_final ? Code::kUsage : Code::kTransport;
    return Failure{
        error(code, "the server reported an error instead of a reply", partial.error), !partial.error_is_final, {}};
  }
  if (partial.malformed)
    return Failure{error(Code::kParse, "the reply is not the JSON of this interface", body.substr(0, 300)), true, {}};
  // With a finish reason the text is whole, even where a server leaves out the end marker behind it.
  if (!partial.ended && partial.finish_reason.empty())
    return Failure{error(Code::kTransport, "the reply broke off before its end"), true, {}};
  return std::nullopt;
}

HttpProvider::Failure HttpProvider::broken_failure(const HttpResponse& response) const {
  const std::string& why = response.problem;
  switch (response.broken) {
    case Broken::kAddress:
    case Broken::kConnect:
      return {error(Code::kTransport, "cannot be reached; check the address (base URL) and the network", why),
              reached_,
              {}};
    case Broken::kTls:
      return {error(Code::kTransport, "its certificate is not trusted", why), false, {}};
    case Broken::kTimeout:
      return {error(Code::kTimeout, "timed out", why), true, {}};
    case Broken::kTooLarge:
      return {error(Code::kTransport, "sent too much", why), false, {}};
    case Broken::kCancelled:
      return {error(Code::kCancelled, "cancelled"), false, {}};
    default:
      return {error(Code::kTransport, "the connection broke", why), true, {}};
  }
}

HttpProvider::Failure HttpProvider::status_failure(const HttpHead& head, std::string_view body) const {
  const int status = head.status;
  const std::string said = error_message(body);
  const auto failed = [&](Code code, std::string what) {
    return Failure{error(code, fmt::format("HTTP {}: {}", status, what), said), false, {}};
  };
  if (status >= 300 && status < 400)
    return failed(Code::kUsage, fmt::format("it sends us elsewhere, to \"{}\"; give that as base URL if it is right",
                                            one_line(head.header("location"))));
  if (status == 401 || status == 403 || (status == 400 && speaks_of_key(body))) {
    if (settings_.key_withheld)
      return failed(Code::kAuth, fmt::format("it wants a key, and {}, meant for the provider itself, is not sent over "
                                             "plain http; name the variable that holds this server's key",
                                             settings_.key_name));
    return failed(Code::kAuth, settings_.key.empty() ? fmt::format("it wants a key; set {}", settings_.key_name)
                                                     : fmt::format("the key in {} is refused", settings_.key_name));
  }
  if (status == 404)
    return failed(Code::kUsage, fmt::format("no model \"{}\" there, or the wrong address", settings_.target.model));
  if (out_of_credit(body) || status == 402) return failed(Code::kUsage, "the account has no credit left");
  if (is_transient(status)) {
    Failure failure = failed(status == 429 ? Code::kBusy : Code::kTransport,
                             status == 429 ? "too many requests" : "the server failed");
    failure.transient = true;
    failure.retry_after_s = retry_after_s(head.header("retry-after"), clock_->unix_s());
    return failure;
  }
  return failed(Code::kUsage, "the request is refused");
}

Status HttpProvider::pause(double seconds, Progress& progress) {
  const double end_s = clock_->now_s() + seconds;
  while (true) {
    if (progress.cancelled()) return error(Code::kCancelled, "cancelled");
    const double left = end_s - clock_->now_s();
    if (left <= 0) return Ok{};
    clock_->sleep(std::min(left, 1.0));
  }
}

Reply HttpProvider::reply_of(Trial trial, const HttpRequest& http, const json& body,
                             std::vector<Attempt> attempts) const {
  const auto clean = [&](std::string text) { return without_key(std::move(text), settings_.key); };
  const auto dump = [&](const json& value) {
    return clean(value.dump(-1, ' ', false, json::error_handler_t::replace));
  };
  Partial& partial = trial.partial;
  Reply reply;
  reply.text = clean(std::move(partial.text));
  reply.model = clean(one_line(partial.model));
  reply.provider = dialect_.name;
  reply.vendor = origin_of(settings_.base);
  reply.usage = partial.usage;
  reply.elapsed_s = trial.attempt.elapsed_s;
  reply.finish_reason = clean(one_line(partial.finish_reason));
  reply.truncated = partial.truncated;
  reply.refused = partial.refused;
  reply.request_id = trial.attempt.request_id.empty() ? clean(one_line(partial.id)) : trial.attempt.request_id;
  reply.request = dump(json{{"url", http.url}, {"body", without_prompt(body)}});
  partial.metadata["http_status"] = trial.head.status;
  if (!trial.attempt.request_id.empty()) partial.metadata["request_id_header"] = trial.attempt.request_id;
  reply.raw = dump(partial.metadata);
  reply.attempts = std::move(attempts);
  return reply;
}

Status HttpProvider::check() {
  HttpRequest http;
  http.method = "GET";
  const bool by_name = settings_.target.own_host;
  http.url = settings_.base + "/" + (by_name ? dialect_.model_path(settings_.target) : std::string(dialect_.list_path));
  http.headers = dialect_.headers(settings_.key);
  http.connect_timeout_s = http.idle_timeout_s = 20;
  http.deadline_s = 30;
  std::string body;
  const auto on_body = [&](const HttpHead&, std::string_view piece) {
    body += piece;
    return true;
  };
  const HttpResponse response = transport_->send(http, on_body, {});
  const int status = response.head.status;
  reached_ = reached_ || status != 0;
  if (response.broken == Broken::kAddress || response.broken == Broken::kConnect || response.broken == Broken::kTls ||
      (response.broken == Broken::kTimeout && status == 0))
    return broken_failure(response).error;
  if (status == 401 || status == 403 || (status == 400 && speaks_of_key(body)) || (status == 404 && by_name))
    return status_failure(response.head, body).error;
  if (status == 400)  // nothing was asked that could be wrong but the key
    return error(Code::kAuth, fmt::format("HTTP 400: it answers nobody with the key in {}", settings_.key_name),
                 error_message(body));
  return Ok{};  // anything else is for the first request to find out
}

}  // namespace kagent::llm
