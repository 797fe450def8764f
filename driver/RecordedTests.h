//===- RecordedTests.h - models with results of other programs --*- C++ -*-===//
//
// A folder of tests, each a folder of its own, holds them in one of two forms:
//
//   NAME/model.onnx  NAME/test_data_set_N/{input,output}_M.pb    ONNX's backend suite
//   NAME/*.{onnx,pt2,mlir}  NAME/inputs/*.npy  NAME/outputs/*.npy    one test a model
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_RECORDEDTESTS_H
#define WEFT_DRIVER_RECORDEDTESTS_H

#include <string>
#include <vector>

namespace weft {

struct RecordedTest {
  std::string name;            ///< the test's folder as seen from the one that was searched, and,
                               ///< where that holds several tests, what tells them apart
  std::string model;           ///< a file
  std::string dataSet;         ///< the folder of the protobufs; empty: of .npy files there are
  std::string inputs, outputs; ///< these, folders of NAME.npy
};

/// The tests in a folder and in those below, by name. Throws runtime::Error of kind BadInput where
/// the folder cannot be read.
std::vector<RecordedTest> findRecordedTests(const std::string &folder);

/// A test as files that a model can be compiled of, run with and compared with.
struct PreparedTest {
  std::string model;
  std::vector<std::string> dims;     ///< NAME=N: symbolic dimensions as recorded
  std::vector<std::string> dataDirs; ///< where external data may lie besides the model's folder
  std::string inputs, outputs;       ///< folders of NAME.npy
};

/// Prepares a test in the existing folder `scratch`. Models of ONNX's suite take shapes and axes as
/// inputs: with each further attempt, the first of which is 0, more inputs become constants. Throws
/// runtime::Error of kind BadInput where the data cannot be read.
PreparedTest prepareRecordedTest(const RecordedTest &test, unsigned attempt,
                                 const std::string &scratch);

/// Whether another attempt may do better than that of this number, which was refused so.
bool mayAttemptAgain(const RecordedTest &test, unsigned attempt, const std::string &refusal);

} // namespace weft

#endif // WEFT_DRIVER_RECORDEDTESTS_H
