#include "compiler/Search/Solver/Instance.h"

#include <catch2/catch.hpp>

using namespace weft::solver;
using Catch::Matchers::Contains;

namespace {

/// The worked example of Instance.h, with parts replaced.
std::string problem(const std::string &nodes, const std::string &edges,
                    const std::string &limit = "6") {
  return R"({"problem": {"name": "p", "nodes": )" + nodes + R"(, "edges": )" + edges +
         R"(, "usage_limit": )" + limit + "}}";
}
const std::string nodes =
    R"({"intervals": [[0, 2], [1, 3]], "costs": [[1, 5], [2, 3]], "usages": [[4, 2], [3, 4]]})";
const std::string edges = R"({"nodes": [[0, 1]], "costs": [[0, 9, 9, 0]]})";

void refuses(const std::string &text, const std::string &message) {
  CHECK_THROWS_WITH(parseInstance(text), Contains(message));
}

} // namespace

TEST_CASE("the worked example") {
  Instance instance = parseInstance(problem(nodes, edges));
  CHECK(instance.name == "p");
  CHECK(evaluate(instance, std::vector{0, 0}).cost == 3);
  CHECK(evaluate(instance, std::vector{0, 0}).excess == 1);
  CHECK(evaluate(instance, std::vector{1, 1}).cost == 8);
  CHECK(evaluate(instance, std::vector{1, 1}).feasible());
  CHECK(evaluate(instance, std::vector{1, 0}).cost == 16);
}

TEST_CASE("usage counts from begin up to, not at, end") {
  std::string apart =
      R"({"intervals": [[0, 1], [1, 3]], "costs": [[1, 5], [2, 3]], "usages": [[4, 2], [3, 4]]})";
  CHECK(evaluate(parseInstance(problem(apart, edges)), std::vector{0, 0}).feasible());
}

TEST_CASE("members in any order, unknown ones, spaces, and numbers with exponents") {
  Instance instance =
      parseInstance("\n{ \"other\" : [1.5, {\"a\\\"\": null}, true], \"problem\" : "
                    "{\"usage_limit\":1e3 ,\"extra\":{}, "
                    "\"edges\":{\"costs\":[[1000000000000000000,1e+18]],\"nodes\":[[0]]},"
                    "\"nodes\":{\"usages\":[[1,2]],\"costs\":[[-3,4]],\"intervals\":[[5,5]]}} }\n");
  CHECK(instance.usageLimit == 1000);
  CHECK(instance.costs[0][0] == -3);
  CHECK(instance.edgeCosts[0][1] == forbidden);
  CHECK_FALSE(evaluate(instance, std::vector{1}).allowed);
}

TEST_CASE("what is not a problem is refused") {
  refuses("", "byte 0: expected an object, got the end of the text");
  refuses("[]", "expected an object, got '['");
  refuses("{}", "expected an object with the member 'problem'");
  refuses(R"({"problem": {"edges": {}}})", "expected problem.nodes");
  refuses(R"({"problem": {"nodes": {}}})", "expected problem.edges");
  refuses(problem(nodes, edges) + "x", "expected the end of the text, got 'x'");
  refuses(problem(nodes, edges, "1.5"), "expected an integer that fits 64 bits, got 1.5");
  refuses(problem(nodes, edges, "9223372036854775808"), "expected an integer that fits 64 bits");
  refuses(problem(nodes, edges, "-1"), "usage_limit is negative, -1");
  refuses(problem(nodes, edges, "\"6\""), "expected an integer, got '\"'");
  refuses(problem(nodes, R"({"nodes": [[0, 1]], "costs": [[0, 9, 9]})"), "expected ',' or ']'");
}

TEST_CASE("parts that do not agree are refused") {
  refuses(problem(nodes, R"({"nodes": [[0, 1]], "costs": [[0, 9, 9]]})"),
          "edge 0 has 3 costs, but its nodes have 4 combinations of strategies");
  refuses(problem(nodes, R"({"nodes": [[0, 2]], "costs": [[0, 9, 9, 0]]})"),
          "edge 0 names node 2, of 2 nodes");
  refuses(problem(nodes, R"({"nodes": [[0, 1], [1, 0]], "costs": [[0, 9, 9, 0]]})"),
          "edges.nodes names 2 edges but edges.costs 1");
  refuses(problem(R"({"intervals": [[0, 2]], "costs": [[1], [1]], "usages": [[1], [1]]})", edges),
          "expected one entry of nodes.intervals for each of 2 nodes, got 1");
  refuses(problem(R"({"intervals": [[0, 2, 3]], "costs": [[1]], "usages": [[1]]})", edges),
          "expected the interval of node 0 to be [begin, end], got 3 numbers");
  refuses(problem(R"({"intervals": [[0, 2]], "costs": [[1, 2]], "usages": [[1]]})", edges),
          "node 0 has 2 costs but 1 usages");
  refuses(problem(R"({"intervals": [[0, 2]], "costs": [[]], "usages": [[]]})", edges),
          "node 0 has no strategies");
  refuses(problem(R"({"intervals": [[0, 2]], "costs": [[1]], "usages": [[-1]]})", edges),
          "node 0 has a negative usage, -1");
}

TEST_CASE("sums that would overflow are refused") {
  std::string large = "900000000000000000";
  refuses(problem(R"({"intervals": [[0, 2]], "costs": [[)" + large + R"(]], "usages": [[1]]})",
                  R"({"nodes": [], "costs": []})"),
          "the largest finite costs sum to 900000000000000000");
  refuses(problem(R"({"intervals": [[0, 2], [0, 2]], "costs": [[1], [1]], "usages": [[)" + large +
                      "], [" + large + "]]}",
                  R"({"nodes": [], "costs": []})", large),
          "the largest usages sum to 1800000000000000000");
}
