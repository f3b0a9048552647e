// Landlock by its system calls: Debian 12's header knows ABI 2 at most.
#pragma once

#include <string>
#include <vector>

namespace kagent::seal {

// The kernel's Landlock ABI; 0 if there is none.
int landlock_abi();

// Restricts this process. Returns "" or what failed.
std::string restrict_files(const std::vector<std::string>& readable, const std::vector<std::string>& writable,
                           const std::vector<std::string>& executable);

}  // namespace kagent::seal
