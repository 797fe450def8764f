//===- Agree.cpp - failing together ---------------------------------------===//

#include "runtime/Executor/Agree.h"

namespace weft::runtime {

void agree(Transport &transport, const std::function<void()> &work) {
  std::string outcome; // exit code, newline, message; empty: good
  try {
    work();
  } catch (const Error &error) {
    outcome = fmt::format("{}\n{}", error.getExitCode(), error.what());
  } catch (const std::exception &error) {
    outcome = fmt::format("5\n{}", error.what());
  }
  std::vector<std::string> outcomes = gatherTexts(transport, outcome);
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (outcomes[rank].empty())
      continue;
    auto kind = static_cast<ErrorKind>(std::stoi(outcomes[rank]));
    std::string message = outcomes[rank].substr(outcomes[rank].find('\n') + 1);
    if (outcomes.size() > 1)
      message = fmt::format("rank {}: {}", rank, message);
    throw AgreedError(kind, message, transport.getRank() == 0);
  }
}

} // namespace weft::runtime
