#include "driver/Operators.h"

#include "frontends/onnx/Import.h"
#include "frontends/stablehlo/Import.h"
#include "frontends/torch_export/CoreOperators.h"
#include "frontends/torch_export/Import.h"
#include <set>
#include <sstream>
#include <vector>

using namespace weft;

static std::string paragraph(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "`" : " `") + name + "`";
  return text + "\n";
}

/// The core set one by one, then what else default exports may hold.
static std::string describeTorch() {
  std::vector<std::string> names = listTorchOperators(), others;
  std::set<std::string> known(names.begin(), names.end()), core;
  std::ostringstream rows;
  size_t covered = 0;
  for (const CoreOperator &each : listCoreOperators()) {
    std::string name = each.name.str(), note = each.note.str();
    bool isKnown = known.count(name) > 0;
    covered += isKnown;
    core.insert(name);
    rows << "| `" << name << "` | " << (isKnown ? "yes" : "no") << " | " << note << " |\n";
  }
  for (const std::string &name : names)
    if (!core.count(name))
      others.push_back(name);
  std::ostringstream text;
  text << "Of ATen's core set, to which `run_decompositions` brings programs, " << covered << " of "
       << core.size() << " operators are covered.\n\n"
       << "| operator | covered | |\n|---|---|---|\n"
       << rows.str() << "\nBesides them, what default exports hold (operators in place, such as "
       << "`aten.add_.Tensor`, are those without the underscore):\n\n"
       << paragraph(others);
  return text.str();
}

std::string weft::describeOperators(const std::string &frontend) {
  if (frontend == "onnx")
    return "## ONNX\n\n" + paragraph(listOnnxOperators());
  if (frontend == "stablehlo")
    return "## StableHLO\n\n" + paragraph(listStableHloOperations());
  if (frontend == "torch")
    return "## torch.export\n\n" + describeTorch();
  return {};
}
