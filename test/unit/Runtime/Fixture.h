//===- Fixture.h - small executables made by hand ---------------*- C++ -*-===//
//
// What the compiler would write, small enough to check by hand, so that the runtime is tested
// without it. The program is a perceptron of two layers on the mesh {data, model}:
//
//   x[8, 12] (rows over data), w1[12, 16] (columns over model), w2[16, 6] (rows over model), ids[8]
//   (over data) pick    LAUNCH: checks ids against [0, 10), hidden = 0 where ids is 0 … through the
//   kernel `select_rows` h = x·w1 ; h = relu(h) · (ids != 0) ; y = h·w2 ; all_reduce sum over model
//   ; y is rows over data
//
// Weights lie beside the folder in weights.bin, at an odd offset, w1 stored transposed as [16, 12].
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RUNTIME_FIXTURE_H
#define WEFT_TEST_UNIT_RUNTIME_FIXTURE_H

#include "runtime/Program/executable.pb.h"

#include <string>
#include <vector>

namespace weft::test {

struct FixtureOptions {
  int64_t data = 1;
  int64_t model = 1;
  int64_t sleepMilliseconds = 0; ///< that each step's kernel takes longer
  int64_t microbatches = 1;      ///< a repeat over frames of ports; rows / data is a multiple
  bool async = false;            ///< the all-reduce is begun and waited for
};

/// Writes FOLDER/mlp.weft, FOLDER/weights.bin, FOLDER/inputs and FOLDER/outputs.
void writeFixture(const std::string &folder, const FixtureOptions &options);

/// Writes executable.pb of `folder`/mlp.weft again from a changed program.
void writeProgram(const std::string &folder, const program::Executable &executable);

/// A folder of the process's own, removed at its end.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  const std::string &getPath() const { return path; }

private:
  std::string path;
};

} // namespace weft::test

#endif // WEFT_TEST_UNIT_RUNTIME_FIXTURE_H
