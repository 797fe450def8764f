#include "compiler/Plan/Fingerprint.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace weft;

namespace {
/// Writes what counts of each operation as text, and keeps a hash of each.
class Hasher {
public:
  void add(Operation &op);
  void addArguments(func::FuncOp function);
  void addWeight(WeightOp weight);
  std::string finish() const;

private:
  void number(Value value) { numbers.try_emplace(value, numbers.size()); }
  void keep(StringRef text) { hashes.push_back(llvm::xxh3_64bits(text)); }

  llvm::DenseMap<Value, unsigned> numbers;
  std::vector<uint64_t> hashes;
};
} // namespace

/// Whether an attribute is of the model: shardings are that where they are written in it, which is
/// before planning. Other attributes of other dialects are notes.
static bool isOfModel(NamedAttribute attr) {
  StringRef name = attr.getName();
  return !name.contains('.') || name.starts_with("dist.");
}

static void print(DictionaryAttr attributes, raw_ostream &os) {
  for (NamedAttribute attr : attributes ? attributes.getValue() : ArrayRef<NamedAttribute>())
    if (isOfModel(attr))
      os << " " << attr.getName().getValue() << "=" << attr.getValue();
}

void Hasher::add(Operation &op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op.getName() << " " << getSourceName(op.getLoc());
  for (Value operand : op.getOperands())
    os << " %" << numbers.lookup(operand);
  print(op.getAttrDictionary(), os);
  for (Value result : op.getResults()) {
    os << " " << result.getType();
    number(result);
  }
  keep(os.str());
}

void Hasher::addArguments(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (BlockArgument argument : function.getArguments()) {
    os << getSourceName(argument) << ":" << argument.getType() << " ";
    print(function.getArgAttrDict(argument.getArgNumber()), os);
    number(argument);
  }
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    os << function.getResultAttr(index, "weft.name") << ":" << function.getResultTypes()[index]
       << " ";
    print(function.getResultAttrDict(index), os);
  }
  keep(os.str());
}

void Hasher::addWeight(WeightOp weight) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << weight.getSymName() << ":" << weight.getType() << " " << stringifyEnum(weight.getKind());
  print(weight->getDiscardableAttrDictionary(), os);
  keep(os.str());
}

std::string Hasher::finish() const {
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(hashes.data()),
                          hashes.size() * sizeof(uint64_t));
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(bytes);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format_hex_no_prefix(hash.high64, 16) << llvm::format_hex_no_prefix(hash.low64, 16);
  return os.str();
}

std::string weft::fingerprint(ModuleOp module) {
  Hasher hasher;
  for (Operation &op : module.getOps())
    if (isa<dist::MeshOp>(op))
      hasher.add(op);
  for (auto weight : module.getOps<WeightOp>())
    hasher.addWeight(weight);
  for (auto function : module.getOps<func::FuncOp>()) {
    hasher.addArguments(function);
    for (Block &block : function.getBody())
      for (Operation &op : block)
        hasher.add(op);
  }
  return hasher.finish();
}
