//===- StepLog.cpp - one line of JSON a step ------------------------------===//

#include "runtime/Executor/StepLog.h"

#include "runtime/Support/Console.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft::runtime {

namespace {

/// The lines of a log before a step, and the last step among them; -1: none.
struct Kept {
  std::string text;
  int64_t last = -1;
};

Kept keepBefore(const std::string &path, int64_t firstStep) {
  File file = File::open(path);
  std::string text(file.getSize(), '\0');
  file.readAt(0, text.data(), text.size());
  Kept kept;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    nlohmann::json line = nlohmann::json::parse(text.begin() + static_cast<int64_t>(at),
                                                text.begin() + static_cast<int64_t>(end), nullptr,
                                                /*allow_exceptions=*/false);
    if (!line.is_object())
      break; // what follows is of a run that was killed, or no log
    auto step = line.find("step");
    bool isStep = step != line.end() && step->is_number_integer();
    if (isStep && step->get<int64_t>() >= firstStep)
      break;
    if (isStep)
      kept.last = step->get<int64_t>();
    kept.text.append(text, at, end + 1 - at);
  }
  return kept;
}

} // namespace

StepLog::StepLog(const std::string &path, int64_t firstStep) : place(findOutput(path)) {
  if (place.kind == OutputKind::Through)
    file = File::openThrough(path);
  if (place.kind != OutputKind::Replaced)
    return;
  Kept kept;
  std::error_code absent;
  if (firstStep > 0 && std::filesystem::exists(place.path, absent))
    kept = keepBefore(place.path, firstStep);
  if (kept.last + 1 != firstStep)
    kept.text += fmt::format("{{\"resumed_at\":{},\"after\":{}}}\n", firstStep,
                             kept.last < 0 ? "null" : std::to_string(kept.last));
  writeOutput(path, kept.text);
  file = File::openForWriting(place.path);
  end = kept.text.size();
}

void StepLog::add(const std::string &line) {
  std::string text = line + "\n";
  if (place.kind == OutputKind::StandardOutput) {
    printText(text);
    return flushOutput();
  }
  if (place.kind == OutputKind::Through)
    return file.append(text);
  file.writeAt(end, text.data(), text.size());
  end += text.size();
}

void StepLog::sync() {
  if (place.kind == OutputKind::Replaced)
    file.sync();
}

} // namespace weft::runtime
