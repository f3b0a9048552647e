#include "harness/seal/landlock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace kagent::seal {
namespace {

// linux/landlock.h, ABI 6.
struct RulesetAttr {
  std::uint64_t access_fs;
  std::uint64_t access_net;
  std::uint64_t scoped;
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent_fd;
};
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kVersionFlag = 1;
constexpr int kRulePathBeneath = 1;

constexpr std::uint64_t kExecute = 1U << 0;
constexpr std::uint64_t kWriteFile = 1U << 1;
constexpr std::uint64_t kReadFile = 1U << 2;
constexpr std::uint64_t kReadDir = 1U << 3;
constexpr std::uint64_t kTruncate = 1U << 14;
constexpr std::uint64_t kMakeAndRemove = 0x1FF0;  // remove and make: bits 4 to 12

// All file rights that this ABI knows: 13 in ABI 1, then refer, truncate, and ioctl on devices in ABI 5.
std::uint64_t known_fs_rights(int abi) {
  if (abi >= 5) return 0xFFFF;
  if (abi >= 3) return 0x7FFF;
  return abi == 2 ? 0x3FFF : 0x1FFF;
}

std::string allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return "";  // what is not there need not be allowed
  struct stat info = {};
  // A file takes file rights only.
  if (::fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) rights &= kExecute | kReadFile | kWriteFile | kTruncate;
  const PathBeneath rule = {rights, fd};
  const long rc = ::syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0);
  const int reason = errno;
  ::close(fd);
  return rc == 0 ? "" : "Landlock rule for " + path + ": " + std::strerror(reason);
}

}  // namespace

int landlock_abi() {
  const long abi = ::syscall(kCreateRuleset, nullptr, 0, kVersionFlag);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

std::string restrict_files(const std::vector<std::string>& readable, const std::vector<std::string>& writable,
                           const std::vector<std::string>& executable) {
  const int abi = landlock_abi();
  if (abi == 0) return "this kernel has no Landlock";
  const std::uint64_t known = known_fs_rights(abi);
  RulesetAttr attr = {known, abi >= 4 ? 3U : 0U, abi >= 6 ? 3U : 0U};
  const std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  const int ruleset = static_cast<int>(::syscall(kCreateRuleset, &attr, size, 0));
  if (ruleset < 0) return std::string("Landlock ruleset: ") + std::strerror(errno);
  std::string failed;
  for (const auto& path : readable) {
    if (failed.empty()) failed = allow(ruleset, path, kReadFile | kReadDir);
  }
  for (const auto& path : executable) {
    if (failed.empty()) failed = allow(ruleset, path, kExecute | kReadFile | kReadDir);
  }
  for (const auto& path : writable) {
    if (failed.empty())
      failed = allow(ruleset, path, (kReadFile | kReadDir | kWriteFile | kTruncate | kMakeAndRemove) & known);
  }
  if (failed.empty() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    failed = std::string("no_new_privs: ") + std::strerror(errno);
  if (failed.empty() && ::syscall(kRestrictSelf, ruleset, 0) != 0)
    failed = std::string("Landlock: ") + std::strerror(errno);
  ::close(ruleset);
  return failed;
}

}  // namespace kagent::seal
