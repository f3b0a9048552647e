// Server-sent events, as they come off the wire: pieces of any size, LF, CRLF or CR, comments, several data lines.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kagent::llm {

class SseReader {
 public:
  using OnEvent = std::function<void(std::string_view data)>;  // data lines joined by LF
  explicit SseReader(OnEvent on_event) : on_event_(std::move(on_event)) {}

  void feed(std::string_view piece);
  // The stream ended: an event whose closing blank line is missing is delivered too (some servers leave it out); if it
  // was cut in the middle, its JSON says so.
  void finish();

 private:
  void end_line();
  void dispatch();

  OnEvent on_event_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool first_line_ = true;
};

}  // namespace kagent::llm
