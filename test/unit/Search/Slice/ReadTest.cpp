#include "compiler/Search/Slice/SliceTable.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace weft::slice;

static SliceTable read(const std::string &text) {
  std::istringstream in(text);
  return readSliceTable(in);
}

static std::string getProblem(const std::string &text) {
  try {
    read(text);
  } catch (const TableError &error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a table in any order of columns and rows") {
  SliceTable table = read("context,length,backward_s,forward_s\r\n8,8,4,3\n0,16,6,5\n\n0,8,2,1\n");
  CHECK(table.granularity == 8);
  CHECK(table.units == 2);
  REQUIRE(table.batches.size() == 1);
  CHECK(table.batches[0].forward == std::vector<double>{1, 5, 3});
  CHECK(table.batches[0].backward == std::vector<double>{2, 6, 4});
}

TEST_CASE("times of several numbers of sequences") {
  SliceTable table = read("batch,length,context,forward_s,backward_s\n2,4,0,3,4\n1,4,0,1,2\n");
  REQUIRE(table.batches.size() == 2);
  CHECK(table.batches[0].batch == 1);
  CHECK(table.batches[1].backward == std::vector<double>{4});
  CHECK(table.granularity == 4);
}

TEST_CASE("what a table has wrong is named with its line") {
  const std::string header = "length,context,forward_s,backward_s\n";
  CHECK(getProblem("") == "the table has no header");
  CHECK(getProblem(header) == "the table has no rows");
  CHECK(getProblem("length,context,forward_s\n") == "line 1: column 'backward_s' is missing");
  CHECK(getProblem("length,length,forward_s\n") == "line 1: column 'length' is there twice");
  CHECK(getProblem("length,ctx\n") == "line 1: no column 'ctx'; known are length, context, "
                                      "forward_s, backward_s and batch");
  CHECK(getProblem(header + "8,0,1\n") == "line 2: expected 4 cells, got: 3");
  CHECK(getProblem(header + "8,0,1,-2\n") ==
        "line 2: column 'backward_s': expected seconds of at least 0, got: -2");
  CHECK(getProblem(header + "8,0,nan,2\n") ==
        "line 2: column 'forward_s': expected seconds, got: 'nan'");
  CHECK(getProblem(header + "8.5,0,1,2\n") ==
        "line 2: column 'length': expected a whole number, got: '8.5'");
  CHECK(getProblem(header + "0,0,1,2\n") ==
        "line 2: column 'length': expected a number from 1 on, got: 0");
  CHECK(getProblem(header + "8,0,1,2\n8,0,1,2\n") ==
        "line 3: length 8, context 0 is there twice, in line 2 too");
  CHECK(getProblem(header + "8,0,1,2\n16,0,1,2\n") ==
        "no row of length 8, context 8: a sequence of 16 tokens in units of 8 needs all slices");
  CHECK(getProblem(header + "1,0,1,2\n2000000000,0,1,2\n") ==
        "no row of length 2, context 0: a sequence of 2000000000 tokens in units of 1 needs all "
        "slices");
}
