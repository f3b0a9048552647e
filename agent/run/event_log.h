// One chained log of events, held exclusively by this process (format: chain.h, docs/run_format.md).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/base/append_file.h"
#include "agent/base/result.h"
#include "agent/run/chain.h"
#include "agent/run/lease.h"

namespace kagent::run {

class EventLog {
 public:
  // Takes the folder's lease, reads the chain of <folder>/<name>, sets a torn tail aside. Creates the log if there is
  // none. Errors: kBusy names the process that holds the lease; kParse (damage: nothing is touched); kIo.
  static Result<std::unique_ptr<EventLog>> open(const std::string& folder, const std::string& name,
                                                const std::string& first_prev);

  // On return the event is on disk. After an error the log is as before. Errors: kIo; kBusy (somebody else wrote to the
  // log); kInternal (not a well-formed event: event.h).
  Status append(const std::string& kind, nlohmann::json body);

  [[nodiscard]] const std::vector<nlohmann::json>& events() const { return chain_.events; }
  [[nodiscard]] const std::string& head() const { return chain_.head; }

 private:
  EventLog(Lease lease, AppendFile file, Chain chain)
      : lease_(std::move(lease)), file_(std::move(file)), chain_(std::move(chain)) {}
  Status repair(const std::string& folder);

  Lease lease_;
  AppendFile file_;
  Chain chain_;
};

}  // namespace kagent::run
