// report_runs FOLDER: writes the made runs below FOLDER, for tests that look at their pages in a browser.
#include "tests/agent/report/made_runs.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  kagent::report::make_hostile(folder + "/hostile");
  kagent::report::make_unfinished(folder + "/unfinished");
  kagent::report::make_damaged(folder + "/damaged");
  kagent::report::make_large(folder + "/large", 50, 5);
  return 0;
}
