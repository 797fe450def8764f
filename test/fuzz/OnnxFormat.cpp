// Changes any field of any message of a model, by protobuf's reflection.

#include "frontends/onnx/Import.h"
#include "frontends/onnx/Proto.h"
#include "test/fuzz/Format.h"
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <limits>

using namespace weft::fuzz;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

/// Changes one field somewhere in a message.
class ProtoMutator {
public:
  ProtoMutator(Message &root, Random &random) : random(random) { collect(root); }

  void mutate() {
    // The root and what lies right below it deserve more than one chance in thousands.
    Message &message = *messages[below(random, 4) ? below(random, messages.size())
                                                  : below(random, std::min<size_t>(8, size()))];
    const auto *descriptor = message.GetDescriptor();
    if (descriptor->field_count() == 0)
      return;
    const FieldDescriptor *field = descriptor->field(below(random, descriptor->field_count()));
    std::vector<const FieldDescriptor *> set;
    message.GetReflection()->ListFields(message, &set);
    if (!set.empty() && below(random, 4))
      field = pick(random, set);
    if (field->is_repeated())
      mutateRepeated(message, field);
    else if (below(random, 6) == 0)
      message.GetReflection()->ClearField(&message, field);
    else
      write(message, field, -1);
  }

private:
  size_t size() const { return messages.size(); }

  void collect(Message &message) {
    messages.push_back(&message);
    const Reflection *reflection = message.GetReflection();
    std::vector<const FieldDescriptor *> set;
    reflection->ListFields(message, &set);
    for (const FieldDescriptor *field : set) {
      bool isString = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      bool isMessage = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      for (int i = 0; i < count && (isString || isMessage); ++i)
        if (isMessage)
          collect(*(field->is_repeated() ? reflection->MutableRepeatedMessage(&message, field, i)
                                         : reflection->MutableMessage(&message, field)));
        else
          strings.push_back(field->is_repeated() ? reflection->GetRepeatedString(message, field, i)
                                                 : reflection->GetString(message, field));
    }
  }

  void mutateRepeated(Message &message, const FieldDescriptor *field) {
    const Reflection *reflection = message.GetReflection();
    int count = reflection->FieldSize(message, field);
    size_t choice = count == 0 ? 0 : below(random, 5);
    if (choice == 0)
      add(message, field);
    else if (choice == 1)
      reflection->SwapElements(&message, field, below(random, count), below(random, count));
    else if (choice == 2) {
      reflection->SwapElements(&message, field, below(random, count), count - 1);
      reflection->RemoveLast(&message, field);
    } else
      write(message, field, below(random, count));
  }

  void add(Message &message, const FieldDescriptor *field) {
    const Reflection *reflection = message.GetReflection();
    switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      reflection->AddAllocatedMessage(&message, field, pickMessage(field).release());
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      reflection->AddString(&message, field, pickString());
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      reflection->AddInt64(&message, field, pickNumber(random));
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      reflection->AddInt32(&message, field, int32_t(pickNumber(random)));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      reflection->AddFloat(&message, field, pickFloat());
      break;
    default:
      break;
    }
  }

  /// Writes a scalar, one of a repeated field where `index` is not -1.
  void write(Message &message, const FieldDescriptor *field, int index) {
    const Reflection *reflection = message.GetReflection();
    auto set = [&](auto one, auto repeated, auto value) {
      if (index < 0)
        (reflection->*one)(&message, field, value);
      else
        (reflection->*repeated)(&message, field, index, value);
    };
    switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      // Copied first: it may hold this message, or be dropped with a member of the same union.
      writeMessage(message, field, index, pickMessage(field));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      set(&Reflection::SetString, &Reflection::SetRepeatedString,
          field->type() == FieldDescriptor::TYPE_BYTES && index < 0
              ? damageBytes(reflection->GetString(message, field), random)
              : pickString());
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      set(&Reflection::SetInt64, &Reflection::SetRepeatedInt64, pickNumber(random));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      set(&Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, uint64_t(pickNumber(random)));
      break;
    case FieldDescriptor::CPPTYPE_INT32: // mostly data types
      set(&Reflection::SetInt32, &Reflection::SetRepeatedInt32,
          below(random, 3) ? int32_t(below(random, 24)) : int32_t(pickNumber(random)));
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      set(&Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue, int(below(random, 16)));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      set(&Reflection::SetFloat, &Reflection::SetRepeatedFloat, pickFloat());
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      set(&Reflection::SetDouble, &Reflection::SetRepeatedDouble, double(pickFloat()));
      break;
    default:
      break;
    }
  }

  static void writeMessage(Message &message, const FieldDescriptor *field, int index,
                           std::unique_ptr<Message> value) {
    const Reflection *reflection = message.GetReflection();
    if (index < 0)
      reflection->SetAllocatedMessage(&message, value.release(), field);
    else
      reflection->MutableRepeatedMessage(&message, field, index)->CopyFrom(*value);
  }

  /// A copy of some message of a type; an empty one where there is none.
  std::unique_ptr<Message> pickMessage(const FieldDescriptor *field) {
    std::vector<Message *> alike;
    for (Message *message : messages)
      if (message->GetDescriptor() == field->message_type())
        alike.push_back(message);
    auto *factory = google::protobuf::MessageFactory::generated_factory();
    std::unique_ptr<Message> copy(factory->GetPrototype(field->message_type())->New());
    if (!alike.empty())
      copy->CopyFrom(*pick(random, alike));
    return copy;
  }

  std::string pickString() {
    return strings.empty() || below(random, 16) == 0 ? std::string() : pick(random, strings);
  }
  float pickFloat() {
    static constexpr float numbers[] = {0,
                                        1,
                                        -1,
                                        0.5,
                                        1e30f,
                                        1e-30f,
                                        std::numeric_limits<float>::infinity(),
                                        std::numeric_limits<float>::quiet_NaN()};
    return pick(random, numbers);
  }

  Random &random;
  std::vector<Message *> messages; ///< in preorder
  std::vector<std::string> strings;
};

mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, llvm::StringRef path) {
  return weft::importOnnx(context, path, {});
}

std::string mutate(llvm::StringRef bytes, Random &random) {
  onnx::ModelProto model;
  google::protobuf::LogSilencer silencer;
  if (!model.ParseFromArray(bytes.data(), int(bytes.size())))
    return bytes.str();
  for (size_t count = 1 + below(random, 3); count-- > 0;)
    ProtoMutator(model, random).mutate();
  return model.SerializeAsString();
}

} // namespace

const Format weft::fuzz::onnxFormat{"onnx", ".onnx", import, mutate};
