//===- TokenTable.h - commands that are waited for elsewhere ----*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICE_TOKENTABLE_H
#define WEFT_RUNTIME_DEVICE_TOKENTABLE_H

#include "runtime/Device/Device.h"
#include "runtime/Support/Error.h"

#include <map>

namespace weft::runtime {

/// A communicator's asynchronous commands by their tokens. An Operation is a Command with
/// `wait(bases, stream)`, which waits for what was begun with operands in the arenas at `bases`.
/// The table outlives the commands.
template <typename Operation> class TokenTable {
public:
  /// The command itself, which a wait finds by its token; 0: it is over in its place. An Error of
  /// kind BadInput where another has the token.
  std::unique_ptr<Command> keep(std::unique_ptr<Operation> command, uint32_t token) {
    if (token != 0 && !operations.emplace(token, command.get()).second)
      throwBadInput("two instructions begin token {}", token);
    return command;
  }

  /// Waits for the command with the token. Whether it waits for its stream: Command.
  std::unique_ptr<Command> makeWait(uint32_t token, bool waitsForStream) {
    return std::make_unique<WaitCommand>(token, waitsForStream, *this);
  }

private:
  class WaitCommand : public Command {
  public:
    WaitCommand(uint32_t token, bool waits, TokenTable &table)
        : token(token), waits(waits), table(table) {}

    bool waitsForStream() const override { return waits; }
    void enqueue(const DeviceBases &bases, Stream &stream) override {
      auto waited = table.operations.find(token);
      if (waited == table.operations.end())
        throwBadInput("it waits for token {}, which nothing begins", token);
      waited->second->wait(bases, stream);
    }

  private:
    uint32_t token;
    bool waits;
    TokenTable &table;
  };

  std::map<uint32_t, Operation *> operations;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_TOKENTABLE_H
