//===- Order.h - the order in which nodes are walked ------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_ONNX_ORDER_H
#define WEFT_FRONTENDS_ONNX_ORDER_H

#include "frontends/onnx/Proto.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace weft::frontend {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

struct NodeOrder {
  std::vector<int> order;  ///< nodes that are needed, makers before users, otherwise as in the file
  std::vector<int> cyclic; ///< needed nodes that cannot be ordered
};

/// Orders the nodes that the `wanted` values need. `producers` maps a value to the node that makes
/// it.
NodeOrder orderNodes(const Nodes &nodes, const llvm::StringMap<int> &producers,
                     llvm::ArrayRef<llvm::StringRef> wanted);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_ORDER_H
