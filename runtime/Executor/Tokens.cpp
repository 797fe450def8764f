//===- Tokens.cpp - training on a flat file of tokens ---------------------===//

#include "runtime/Executor/Tokens.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Support/ForEachOffset.h"
#include "runtime/Support/Hash.h"
#include "runtime/Support/Suggest.h"

#include <bit>
#include <cstring>
#include <limits>

namespace weft::runtime {

int64_t RowOrder::get(int64_t epoch, int64_t position) const {
  constexpr int rounds = 6;
  int halfBits = (std::bit_width(static_cast<uint64_t>(count - 1)) + 1) / 2;
  uint64_t mask = (uint64_t{1} << halfBits) - 1;
  auto value = static_cast<uint64_t>(position);
  do {
    uint64_t left = value >> halfBits, right = value & mask;
    for (uint64_t round = 0; round < rounds; ++round) {
      uint64_t key[] = {seed, static_cast<uint64_t>(epoch), round, right};
      uint64_t next = left ^ (getHash(key, sizeof(key)) & mask);
      left = right;
      right = next;
    }
    value = left << halfBits | right;
  } while (value >= static_cast<uint64_t>(count));
  return static_cast<int64_t>(value);
}

namespace {

bool isInteger(DType dtype) { return dtype != program::I1 && !isFloat(dtype); }

/// Greatest value of an integer type.
uint64_t getMaximum(DType dtype) {
  int bits = static_cast<int>(8 * getElementSize(dtype));
  bool isSigned = getName(dtype).starts_with("i");
  return std::numeric_limits<uint64_t>::max() >> (64 - bits + (isSigned ? 1 : 0));
}

/// Bytes of a token: as the option says, else as the file's name ends.
int64_t getTokenBytes(const TrainDataOptions &options) {
  std::string type = options.tokenType;
  for (const char *known : {"u16", "u32"})
    if (type.empty() && options.path.ends_with(std::string(".") + known))
      type = known;
  if (type.empty())
    throw Error(ErrorKind::Usage,
                fmt::format("'{}' is neither NAME.npz nor NAME.u16 or NAME.u32; --token-type says "
                            "what a file of tokens of another name holds",
                            options.path));
  return type == "u16" ? 2 : 4;
}

class TokenData : public TrainData {
public:
  TokenData(const TrainDataOptions &options, const program::Executable &executable,
            const program::Program &program)
      : options(options), tokenBytes(getTokenBytes(options)), file(File::open(options.path)) {
    chooseInputs(executable);
    for (const program::Port &port : program.inputs())
      shifts.push_back(port.name() == labels ? labelShift : 0);
    if (file.getSize() % tokenBytes != 0)
      throwBadInput("'{}' has {} bytes, which is no whole number of tokens of {} bytes",
                    options.path, file.getSize(), tokenBytes);
    tokens = static_cast<int64_t>(file.getSize()) / tokenBytes;
    rows = (tokens - labelShift) / sequence;
    if (rows < batch)
      throwBadInput("data too short: '{}' holds {} tokens, {} rows of {}; a step takes {} rows",
                    options.path, tokens, rows, sequence, batch);
    seed = options.seed.value_or(0);
  }

  DataPosition getPosition() const override {
    return {"tokens", seed, position,
            fmt::format("{} tokens of {} bytes in rows of {}", tokens, tokenBytes, sequence)};
  }

  void moveTo(const DataPosition &saved, const std::string &checkpoint) override {
    if (saved.kind != "tokens")
      throwBadInput("the checkpoint '{}' was made with data of kind {}, '{}' holds tokens",
                    checkpoint, saved.kind, options.path);
    if (saved.source != getPosition().source)
      throwBadInput("the checkpoint '{}' was made with other data: {}, '{}' has {}", checkpoint,
                    saved.source, options.path, getPosition().source);
    if (options.seed && *options.seed != saved.seed)
      throwBadInput("the checkpoint '{}' was made with --seed {}, --seed {} would go through the "
                    "data in another order",
                    checkpoint, saved.seed, *options.seed);
    seed = saved.seed;
    position = saved.position;
  }

  void require(int64_t steps) const override {} // it is gone through again

  void readNext(const std::vector<PortBlock> &inputs, const PortAccess &access) override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      NpyHeader header{inputs[i].local.dtype, inputs[i].shape, false, 0};
      fillInput(inputs[i], header, access, [&](const StridedBlock &block, std::byte *memory) {
        copyTokens(block, header.dtype, shifts[i], memory);
      });
    }
    position += batch;
  }

private:
  void chooseInputs(const program::Executable &executable);
  void copyTokens(const StridedBlock &block, DType dtype, int64_t shift, std::byte *memory);
  void readRow(int64_t number);

  TrainDataOptions options;
  int64_t tokenBytes;
  File file;
  std::string labels;     ///< name of the input that has them; empty: none
  int64_t labelShift = 0; ///< how far behind a row's tokens its labels begin
  int64_t batch = 0, sequence = 0;
  std::vector<int64_t> shifts; ///< by input of this rank's program
  int64_t tokens = 0, rows = 0;
  uint64_t seed = 0;
  int64_t position = 0; ///< rows that were read, by all ranks

  int64_t loaded = -1;         ///< the row, counted from the first step on, that is in memory
  std::vector<uint32_t> row;   ///< with the token behind it
  std::vector<std::byte> text; ///< the same, as in the file
};

/// Which inputs take tokens and labels, and how many of them.
void TokenData::chooseInputs(const program::Executable &executable) {
  std::vector<const program::Port *> ports = listInputs(executable);
  std::vector<std::string> names;
  for (const program::Port *port : ports) {
    names.push_back(port->name());
    if (!isInteger(port->dtype()) || port->shape_size() != 2)
      throwBadInput("input '{}' is {} {}, a file of tokens can give [rows, tokens] of integers "
                    "alone; give all inputs in a .npz file",
                    port->name(), getName(port->dtype()),
                    formatShape({port->shape().begin(), port->shape().end()}));
  }
  if (ports.empty() || ports.size() > 2)
    throwBadInput("the model has {} inputs, a file of tokens can give two: tokens and labels; "
                  "give all inputs in a .npz file",
                  ports.size());
  std::string usual = executable.training().labels();
  if (ports.size() == 2)
    labels = !options.labels.empty() ? options.labels : usual.empty() ? names.back() : usual;
  if (!options.labels.empty() &&
      (ports.size() == 1 || std::find(names.begin(), names.end(), labels) == names.end()))
    throwBadInput("the model has no input '{}' beside one for tokens; {}", options.labels,
                  suggest(options.labels, names));
  // A loss that is of labels further on shifts by itself.
  bool lossShifts = labels == usual && executable.plan().training().loss().label_shift() > 0;
  labelShift = labels.empty() || lossShifts ? 0 : 1;
  batch = ports.front()->shape(0);
  sequence = ports.front()->shape(1);
  for (const program::Port *port : ports)
    if (port->shape(0) != batch || port->shape(1) != sequence)
      throwBadInput("inputs '{}' and '{}' are of different shapes, {} and {}", names.front(),
                    port->name(), formatShape({batch, sequence}),
                    formatShape({port->shape(0), port->shape(1)}));
  if (options.sequence != 0 && options.sequence != sequence)
    throwBadInput("the program was compiled for rows of {} tokens, --seq says {}", sequence,
                  options.sequence);
  if (batch < 1 || sequence < 1)
    throwBadInput("the program was compiled for no tokens");
}

/// Loads a row, counted from the first step on.
void TokenData::readRow(int64_t number) {
  if (loaded == number)
    return;
  int64_t place = RowOrder(rows, seed).get(number / rows, number % rows);
  int64_t wanted = sequence + labelShift;
  text.resize(wanted * tokenBytes);
  file.readAt(place * sequence * tokenBytes, text.data(), text.size());
  row.assign(wanted, 0);
  for (int64_t i = 0; i < wanted; ++i)
    std::memcpy(&row[i], text.data() + i * tokenBytes, tokenBytes); // little endian, as the host
  loaded = number;
}

void TokenData::copyTokens(const StridedBlock &block, DType dtype, int64_t shift,
                           std::byte *memory) {
  int64_t bytes = getElementSize(dtype), first = block.begin / bytes;
  std::vector<int64_t> places; // of each element in the whole input
  forEachOffset(block.shape, block.fileStrides,
                [&](int64_t offset) { places.push_back(first + offset); });
  auto place = places.begin();
  forEachOffset(block.shape, block.memoryStrides, [&](int64_t offset) {
    readRow(position + *place / sequence);
    uint64_t token = row[*place++ % sequence + shift];
    if (token > getMaximum(dtype))
      throwBadInput("'{}' holds the token {}, which the model's {} cannot hold", options.path,
                    token, getName(dtype));
    std::memcpy(memory + offset * bytes, &token, bytes);
  });
}

} // namespace

std::unique_ptr<TrainData> openTokens(const TrainDataOptions &options,
                                      const program::Executable &executable,
                                      const program::Program &program) {
  return std::make_unique<TokenData>(options, executable, program);
}

} // namespace weft::runtime
