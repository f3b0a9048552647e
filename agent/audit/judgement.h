// What the audit's log holds of the judges: derived from its events and blobs at every start, stored nowhere else.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/audit/opinion.h"
#include "agent/audit/samples.h"
#include "agent/base/result.h"

namespace kagent::audit {

// A judge is asked at most this often about one sample: once more if its reply cannot be read.
inline constexpr int kMostAsks = 2;

// One judge on one sample.
struct Judgement {
  std::string judge;   // as given to --judge: "openai:gpt-x"
  std::string model;   // as the server returned it
  std::string vendor;  // the host that answered, or as stated beside a spooled answer
  bool whole = true;   // the judge was shown all of the code
  int replies = 0;
  std::optional<Opinion> opinion;
  std::string unparsed;  // why the last reply could not be read

  [[nodiscard]] bool pending() const { return !opinion && replies < kMostAsks; }
};

// One for each judge that was ever asked about exactly this sample, in the order of asking. Errors: a reply's blob is
// missing or damaged.
Result<std::vector<Judgement>> judgements_of(const Sample& sample, const std::vector<nlohmann::json>& events,
                                             const run::BlobStore& blobs);

}  // namespace kagent::audit
