#include "agent/llm/sse.h"

namespace kagent::llm {

void SseReader::feed(std::string_view piece) {
  while (!piece.empty()) {
    if (after_cr_ && piece.front() == '\n') piece.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = piece.find_first_of("\r\n");
    line_.append(piece.substr(0, end));
    if (end == std::string_view::npos) return;
    after_cr_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    end_line();
  }
}

void SseReader::finish() {
  if (!line_.empty()) end_line();
  dispatch();
}

void SseReader::end_line() {
  std::string_view line = line_;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (first_line_ && line.substr(0, 3) == kByteOrderMark) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    dispatch();
  } else if (line.substr(0, 4) == "data" && (line.size() == 4 || line[4] == ':')) {
    std::string_view value = line.size() == 4 ? std::string_view() : line.substr(5);
    if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }  // comments, `event:`, `id:` and `retry:` say nothing that the data does not
  line_.clear();
}

void SseReader::dispatch() {
  if (has_data_) on_event_(data_);
  data_.clear();
  has_data_ = false;
}

}  // namespace kagent::llm
