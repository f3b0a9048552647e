// Settings files. What is read can be written and read again; an error is one line that names a line of the file.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/printable.h"
#include "agent/base/settings_text.h"
#include "tests/fuzz/require.h"

namespace {

using kagent::SettingValue;

// In the one form that needs no escape but a backslash, a quote and \t.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (code < 0x20 || code == 0x7F) {
      out += std::string("\\u00") + kHex[code >> 4] + kHex[code & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string written(const SettingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (std::get_if<double>(&value) != nullptr) return "0.5";  // its digits are the standard library's business
  std::string list = "[";
  for (const std::string& text : std::get<std::vector<std::string>>(value)) list += quoted(text) + ",\n";
  return list + "]";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto settings = kagent::parse_settings(bytes, "fuzz");
  if (!settings) {
    const std::string& message = settings.error().message;
    require(message.starts_with("fuzz:") && message.size() < 400 && message == kagent::printable(message));
    return 0;
  }
  std::string again;
  for (const kagent::Setting& setting : settings.value()) again += setting.name + "=" + written(setting.value) + "\n";
  const auto read = kagent::parse_settings(again, "again");
  require(read.ok() && read.value().size() == settings.value().size());
  for (std::size_t i = 0; i < read.value().size(); ++i) {
    const SettingValue& value = settings.value()[i].value;
    require(read.value()[i].name == settings.value()[i].name);
    require(std::holds_alternative<double>(value) || read.value()[i].value == value);
  }
  return 0;
}
