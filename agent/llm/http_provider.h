// A model over HTTP: one dialect, one address, one key; retries; nothing secret in what it returns.
#pragma once

#include <memory>
#include <string>

#include "agent/llm/clock.h"
#include "agent/llm/dialect.h"
#include "agent/llm/http_transport.h"
#include "agent/llm/provider.h"
#include "agent/llm/retry.h"

namespace kagent::llm {

struct HttpSettings {
  Target target;
  std::string base;           // as base_of() gives it
  std::string key;            // "": none
  std::string key_name;       // for messages
  bool key_withheld = false;  // there is one, and it was not sent over plain http
  RetryPolicy retry;
};

class HttpProvider : public Provider {
 public:
  HttpProvider(const Dialect& dialect, HttpSettings settings, std::unique_ptr<HttpTransport> transport,
               std::shared_ptr<Clock> clock);

  [[nodiscard]] std::string name() const override;
  // On the dialect's own host asks for the model by name, elsewhere for the list of models; what a server that knows
  // neither says (404, 405) is no error there.
  Status check() override;
  Result<Answer> complete(const Request& request, Progress& progress) override;

 private:
  struct Failure {
    Error error;
    bool transient = false;
    std::optional<double> retry_after_s;
  };
  struct Trial {
    Attempt attempt;
    Partial partial;
    HttpHead head;
    std::optional<Failure> failure;
  };

  [[nodiscard]] Result<nlohmann::json> build(const Request& request) const;
  [[nodiscard]] HttpRequest http_request(const Request& request, const nlohmann::json& body) const;
  Trial try_once(const HttpRequest& http, Progress& progress);
  [[nodiscard]] std::optional<Failure> judge(const HttpResponse& response, const Partial& partial,
                                             std::string_view body);
  [[nodiscard]] Failure broken_failure(const HttpResponse& response) const;
  [[nodiscard]] Failure status_failure(const HttpHead& head, std::string_view body) const;
  [[nodiscard]] Error error(Code code, std::string_view what, std::string_view server_text = {}) const;
  Status pause(double seconds, Progress& progress);
  [[nodiscard]] Reply reply_of(Trial trial, const HttpRequest& http, const nlohmann::json& body,
                               std::vector<Attempt> attempts) const;

  const Dialect& dialect_;
  HttpSettings settings_;
  std::unique_ptr<HttpTransport> transport_;
  std::shared_ptr<Clock> clock_;
  bool reached_ = false;  // the host has answered once: later silence is an outage, not a wrong address
};

}  // namespace kagent::llm
