//===- OutputStream.h - LLVM's streams into output files --------*- C++ -*-===//

#ifndef WEFT_DRIVER_OUTPUTSTREAM_H
#define WEFT_DRIVER_OUTPUTSTREAM_H

#include "runtime/Support/OutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <exception>

namespace weft {

/// Appends to an output file. LLVM is no place to throw through: what fails is thrown by finish().
class OutputStream : public llvm::raw_ostream {
public:
  explicit OutputStream(runtime::OutputFile &file) : file(file) {}
  ~OutputStream() override { flush(); }

  /// Writes what is left; to be called when all is printed.
  void finish() {
    flush();
    if (failure)
      std::rethrow_exception(std::exchange(failure, nullptr));
  }

private:
  void write_impl(const char *data, size_t bytes) override {
    position += bytes;
    if (failure)
      return;
    try {
      file.write({data, bytes});
    } catch (...) {
      failure = std::current_exception();
    }
  }
  uint64_t current_pos() const override { return position; }

  runtime::OutputFile &file;
  uint64_t position = 0;
  std::exception_ptr failure;
};

} // namespace weft

#endif // WEFT_DRIVER_OUTPUTSTREAM_H
