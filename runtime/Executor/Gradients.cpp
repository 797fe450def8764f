//===- Gradients.cpp - gradients of a step in a file ----------------------===//

#include "runtime/Executor/Gradients.h"

#include "runtime/Executor/Agree.h"

namespace weft::runtime {

/// The weight that a port has the gradient of.
static std::string getWeightName(const program::Port &port) {
  constexpr std::string_view prefix = "grad:";
  const std::string &name = port.name();
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

Gradients::Gradients(Transport &transport, const std::string &path, const Executable &executable,
                     const Position &position) {
  std::vector<SafeTensor> tensors;
  std::map<std::string, size_t> known; // tensors
  agree(transport, [&] {
    std::map<std::string, const program::Port *> ports; // in an order that no schedule changes
    for (const program::Program &program : executable.proto.classes())
      for (const program::Port &port : program.gradients())
        ports.emplace(port.name(), &port);
    for (const auto &[name, port] : ports) {
      known[name] = tensors.size();
      std::vector<int64_t> shape(port->shape().begin(), port->shape().end());
      tensors.push_back({getWeightName(*port), port->dtype(), "", shape, 0});
    }
    if (tensors.empty())
      throwBadInput("'{}' hands out no gradients: they are those of weft compile --train",
                    executable.folder);
    const program::Program &own = executable.getProgram(position.getRank());
    for (const program::Port &port : own.gradients()) {
      blocks.push_back(resolvePort(own, port, position));
      numbers.push_back(known.at(port.name()));
    }
  });
  file.emplace(transport, path, tensors);
}

void Gradients::take(uint32_t port, const PortAccess &access) {
  const PortBlock &block = blocks.at(port);
  if (!block.firstCopy)
    return;
  NpyHeader whole{block.local.dtype, block.shape, false, file->getTensor(numbers[port]).offset};
  access.staging.look(block.local, access.bases, access.stream,
                      [&](const Piece &piece, const std::byte *memory) {
                        file->write(getFileBlock(block, whole, piece.view, piece.start), memory);
                      });
}

} // namespace weft::runtime
