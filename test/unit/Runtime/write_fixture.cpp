//===- write_fixture.cpp - the fixture for tests of the command line ------===//

#include "test/unit/Runtime/Fixture.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: write_fixture FOLDER [DATA [MODEL [SLEEP-MS [MICROBATCHES [ASYNC]]]]]\n");
    return 2;
  }
  auto get = [&](int index, int64_t otherwise) {
    return index < argc ? std::atoll(argv[index]) : otherwise;
  };
  try {
    weft::test::writeFixture(argv[1], {get(2, 1), get(3, 1), get(4, 0), get(5, 1), get(6, 0) != 0});
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
