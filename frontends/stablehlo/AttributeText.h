//===- AttributeText.h - attributes of an unregistered dialect --*- C++ -*-===//
//
// StableHLO's own attributes arrive as text, since its dialect is not linked:
// `gather<offset_dims = [2], index_vector_dim = 1>` for `#stablehlo.gather<…>`, and
// `comparison_direction LT` for `#stablehlo<comparison_direction LT>`. All functions throw
// ImportError where the text is not of that form.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_ATTRIBUTETEXT_H
#define WEFT_FRONTENDS_STABLEHLO_ATTRIBUTETEXT_H

#include "frontends/common/Types.h"
#include "mlir/IR/Attributes.h"
#include "llvm/ADT/StringMap.h"

namespace weft::frontend::stablehlo {

/// `mnemonic<field = 1, other = [2, 3]>`; a field that is left out has no elements.
class AttributeFields {
public:
  AttributeFields(mlir::Attribute attribute, llvm::StringRef mnemonic);

  Shape dims(llvm::StringRef field) const { return fields.lookup(field); }
  /// Throws ImportError where the field is there with other than one number.
  int64_t number(llvm::StringRef field, int64_t otherwise) const;

private:
  llvm::StringMap<Shape> fields;
};

/// The word of an enum's attribute: `LT` of `comparison_direction LT`.
llvm::StringRef enumWord(mlir::Attribute attribute, llvm::StringRef mnemonic);

/// Where the dimensions of a convolution lie: `conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`.
struct ConvDims {
  /// Positions of batch and feature (input and output), or of the output feature and the input
  /// feature (kernel), and of the spatial dimensions in order.
  struct Operand {
    int64_t first = -1, second = -1;
    Shape spatial;
  };
  Operand input, kernel, output;
};
ConvDims parseConvDims(mlir::Attribute attribute);

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_ATTRIBUTETEXT_H
