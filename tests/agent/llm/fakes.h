// A clock that never sleeps, a network that says what it is told, a progress that remembers.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agent/llm/clock.h"
#include "agent/llm/http_transport.h"
#include "agent/llm/provider.h"

namespace kagent::llm {

class FakeClock : public Clock {
 public:
  double now_s() override { return now; }
  double unix_s() override { return 1'800'000'000 + now; }
  void sleep(double seconds) override {
    now += seconds;
    slept += seconds;
    if (on_sleep) on_sleep();
  }
  double random() override { return chance; }

  double now = 100;
  double slept = 0;
  double chance = 1;  // the longest waits, so that tests are exact
  std::function<void()> on_sleep;
};

struct Canned {
  int status = 200;
  Headers headers{};
  std::vector<std::string> pieces{};
  Broken broken = Broken::kNo;
  std::string problem{};
};

class FakeTransport : public HttpTransport {
 public:
  HttpResponse send(const HttpRequest& request, const OnBody& on_body, const Cancelled& cancelled) override {
    requests.push_back(request);
    if (canned.empty()) return {{}, Broken::kConnect, "the fake network is at its end"};
    const Canned answer = canned.front();
    canned.pop_front();
    HttpResponse response{{answer.status, answer.headers}, answer.broken, answer.problem};
    if (cancelled && cancelled()) return {{}, Broken::kCancelled, ""};
    for (const std::string& piece : answer.pieces) {
      if (!on_body(response.head, piece)) return {response.head, Broken::kCancelled, ""};
    }
    return response;
  }

  std::deque<Canned> canned;
  std::vector<HttpRequest> requests;
};

inline Request ask_for(std::string prompt, std::string task = "3/4") {
  Request request;
  request.prompt = std::move(prompt);
  request.task = std::move(task);
  return request;
}

class Recorder : public Progress {
 public:
  void say(std::string_view line) override { lines.emplace_back(line); }
  void attempt(const Attempt& done) override { attempts.push_back(done); }
  void received(std::size_t bytes) override { most_received = std::max(most_received, bytes); }
  bool cancelled() override { return stop; }

  std::vector<std::string> lines;
  std::vector<Attempt> attempts;
  std::size_t most_received = 0;
  bool stop = false;
};

}  // namespace kagent::llm
