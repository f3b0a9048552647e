// Progress of many tasks on stderr: a line an event, and on a terminal a last line that shows how the run stands.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace kagent {

class RunProgress {
 public:
  // `standing`: text of the last line.
  explicit RunProgress(std::function<std::string()> standing);
  ~RunProgress();
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  // Many threads. `what` may be hostile text.
  void say(const std::string& task, std::string_view what);
  // Shows the standing anew; not on a terminal: at most once a minute.
  void moved();

 private:
  void draw(const std::string& line);

  std::function<std::string()> standing_;
  bool terminal_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_standing_ = begin_;
};

}  // namespace kagent
