//===- ProtoEnumsTest.cpp - no enum has a case that another lacks ---------===//

#include "compiler/Executable/ProtoEnums.h"
#include "compiler/Plan/PlanEnums.h"
#include "compiler/Plan/PlanText.h"
#include "mlir/IR/Builders.h"
#include "runtime/Program/Collectives.h"
#include "runtime/Support/DType.h"

#include <catch2/catch.hpp>

using namespace weft;

/// Holds that every case of a dialect's enum has a case of the message's with its name, and the
/// other way round. `count` is the number of the dialect's.
template <typename Enum>
static void checkNames(unsigned count, const google::protobuf::EnumDescriptor *messages,
                       llvm::StringRef suffix = "") {
  CHECK(static_cast<int>(count) == messages->value_count());
  for (unsigned value = 0; value < count; ++value) {
    const auto *found = messages->FindValueByNumber(toProto(static_cast<Enum>(value)));
    REQUIRE(found);
    llvm::StringRef name = found->name();
    name.consume_back(suffix);
    CHECK(name.lower() == stringifyEnum(static_cast<Enum>(value)).str());
  }
}

TEST_CASE("the executable's enums are those of the exec dialect") {
  checkNames<exec::ArenaKind>(exec::getMaxEnumValForArenaKind() + 1,
                              program::ArenaKind_descriptor());
  checkNames<exec::CollectiveKind>(exec::getMaxEnumValForCollectiveKind() + 1,
                                   program::CollectiveKind_descriptor());
  checkNames<exec::Phase>(exec::getMaxEnumValForPhase() + 1, program::Phase_descriptor());
  checkNames<exec::Stream>(exec::getMaxEnumValForStream() + 1, program::Stream_descriptor(),
                           "_STREAM");
}

TEST_CASE("the runtime names and measures element types as the compiler does") {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  auto number = [&](unsigned bits, bool hasSign) -> mlir::Type {
    return hasSign ? builder.getIntegerType(bits) : builder.getIntegerType(bits, false);
  };
  const std::vector<std::pair<std::string, mlir::Type>> types = {
      {"i1", number(1, true)},       {"i8", number(8, true)},         {"i16", number(16, true)},
      {"i32", number(32, true)},     {"i64", number(64, true)},       {"u8", number(8, false)},
      {"u16", number(16, false)},    {"u32", number(32, false)},      {"u64", number(64, false)},
      {"f16", builder.getF16Type()}, {"bf16", builder.getBF16Type()}, {"f32", builder.getF32Type()},
      {"f64", builder.getF64Type()}};
  CHECK(static_cast<int>(types.size()) ==
        program::DType_descriptor()->value_count() - 1); // unknown
  for (const auto &[name, type] : types) {
    std::optional<DType> dtype = getDType(type);
    REQUIRE(dtype);
    CHECK(runtime::getName(toProto(*dtype)) == name);
    CHECK(runtime::getElementSize(toProto(*dtype)) == elementBytes(*dtype));
    CHECK(runtime::isFloat(toProto(*dtype)) == isFloat(*dtype));
    CHECK(fromProto(toProto(*dtype)) == dtype);
  }
  CHECK_FALSE(fromProto(program::DTYPE_UNKNOWN));
  const std::vector<mlir::Type> foreign = {number(7, true), number(1, false),
                                           builder.getIntegerType(8, true), builder.getIndexType()};
  for (mlir::Type type : foreign)
    CHECK_FALSE(getDType(type));
}

TEST_CASE("a plan's reductions are the compiler's") {
  const auto *messages = plan::Reduction_descriptor();
  CHECK(messages->value_count() == static_cast<int>(getMaxEnumValForReduceKind()) + 1);
  for (int index = 0; index < messages->value_count(); ++index) {
    auto reduction = static_cast<plan::Reduction>(messages->value(index)->number());
    std::optional<ReduceKind> kind = fromPlan(reduction);
    REQUIRE(kind);
    CHECK(toPlan(*kind) == reduction);
    CHECK(runtime::getName(reduction) == stringifyReduceKind(*kind).str());
  }
  CHECK_FALSE(fromPlan(static_cast<plan::Reduction>(7)));
}

TEST_CASE("a plan with a reduction that no compiler knows is refused") {
  std::string problem;
  auto parse = [&](const std::string &reduction) {
    return parsePlan("version: 1 meshes { name: \"mesh\" axes { name: \"model\" size: 2 } } "
                     "decisions { value: \"x\" sharding { mesh: \"mesh\" dims {} partial { name: "
                     "\"model\" } reduction: " +
                         reduction + " } }",
                     "p.txtpb", problem);
  };
  CHECK(parse("MAX"));
  CHECK_FALSE(parse("7"));
  CHECK(problem == "plan p.txtpb: sharding of 'x': no reduction has the number 7");
}
