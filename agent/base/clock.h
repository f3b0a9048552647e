// What time it is, as the log writes it.
#pragma once

#include <string>

namespace kagent {

// RFC 3339 in UTC with milliseconds: 2026-12-01T06:30:00.123Z
std::string now_utc();

}  // namespace kagent
