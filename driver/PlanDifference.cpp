//===- PlanDifference.cpp - in what two plans differ ----------------------===//

#include "driver/PlanDifference.h"

#include "compiler/Plan/ApplyPlan.h"

#include <google/protobuf/text_format.h>
#include <map>
#include <set>

using namespace weft;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

using Fields = std::map<std::string, std::string>;

/// What is not an option: said apart, or for people alone.
static bool isApart(const std::string &path) {
  static const std::set<std::string> apart = {"version", "model", "decisions"};
  return apart.count(path) > 0;
}

/// The fields that are set, by their path; elements of lists by their name where they have one.
static void collectFields(const Message &message, const std::string &prefix, Fields &fields) {
  const auto *reflection = message.GetReflection();
  std::vector<const FieldDescriptor *> set;
  reflection->ListFields(message, &set);
  for (const FieldDescriptor *field : set) {
    std::string path = prefix + std::string(field->name());
    if (isApart(path))
      continue;
    int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      int index = field->is_repeated() ? i : -1;
      std::string place = index < 0 ? path : path + "[" + std::to_string(i) + "]";
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
        google::protobuf::TextFormat::PrintFieldValueToString(message, field, index,
                                                              &fields[place]);
        continue;
      }
      const Message &part = index < 0 ? reflection->GetMessage(message, field)
                                      : reflection->GetRepeatedMessage(message, field, i);
      collectFields(part, place + ".", fields);
    }
  }
}

static Fields collectOptions(const plan::Plan &plan) {
  Fields fields;
  collectFields(plan, "", fields);
  return fields;
}

std::string weft::describeSharding(const plan::Plan &plan, const plan::Decision &decision) {
  MeshShape mesh = getMeshShape(plan, decision);
  std::string text = str(mesh, fromPlan(decision.sharding(), mesh));
  return plan.meshes_size() == 1 || decision.sharding().mesh().empty() ? text
                                                                       : mesh.name + " " + text;
}

static Fields collectDecisions(const plan::Plan &plan) {
  Fields fields;
  for (const plan::Decision &decision : plan.decisions()) {
    std::string &text = fields[decision.value()];
    text += (text.empty() ? "" : ", ") + describeSharding(plan, decision);
  }
  return fields;
}

static std::vector<Difference> compare(const Fields &first, const Fields &second) {
  Fields whole = first;
  whole.insert(second.begin(), second.end());
  std::vector<Difference> differences;
  for (const auto &[what, text] : whole) {
    auto a = first.find(what), b = second.find(what);
    Difference difference{what, a == first.end() ? "" : a->second,
                          b == second.end() ? "" : b->second};
    if (difference.first != difference.second)
      differences.push_back(difference);
  }
  return differences;
}

PlanDifference weft::comparePlans(const plan::Plan &first, const plan::Plan &second) {
  PlanDifference difference;
  difference.sameModel = first.model().fingerprint() == second.model().fingerprint();
  difference.options = compare(collectOptions(first), collectOptions(second));
  difference.decisions = compare(collectDecisions(first), collectDecisions(second));
  return difference;
}
