#include "test/unit/Validate/Rows.h"

#include <filesystem>

using namespace weft::validate;

namespace {

const std::string header = "model_type,hidden,layers,heads,seq,vocab,cluster,gpus,tp,pp,vpp,dp,"
                           "micro_batch,global_batch,recompute,sequence_parallel,dtype,measured_s";

/// A table in a file that is gone at the end.
class File {
public:
  explicit File(const std::string &text)
      : path(std::filesystem::temp_directory_path() /
             ("weft-validate-" + std::to_string(reinterpret_cast<uintptr_t>(this)) + ".csv")) {
    std::ofstream(path) << text;
  }
  ~File() { std::filesystem::remove(path); }
  std::string path;
};

std::string getProblem(const std::string &text) {
  File file(text);
  try {
    validateTable(file.path, {});
  } catch (const std::runtime_error &error) {
    return std::string(error.what()).substr(file.path.size());
  }
  return "";
}

std::string makeLine(int64_t tensor, int64_t data, double measured) {
  return "gpt,4096,32,32,2048,51200,dgx-a100:1,8," + std::to_string(tensor) + ",1,1," +
         std::to_string(data) + ",1,8,full,0,f16," +
         (measured > 0 ? std::to_string(measured) : "") + "\n";
}

} // namespace

TEST_CASE("mean, median, bias, tau and regret by their definitions") {
  File plain(header + "\n" + makeLine(8, 1, 0) + makeLine(4, 2, 0) + makeLine(2, 4, 0));
  Validation predicted = validateTable(plain.path, {});
  CHECK_FALSE(predicted.mean);
  CHECK_FALSE(predicted.tau);
  CHECK_FALSE(predicted.rows[0].getError());
  double a = predicted.rows[0].prediction.seconds, b = predicted.rows[1].prediction.seconds,
         c = predicted.rows[2].prediction.seconds;
  // Errors of +25 %, 0 and -20 %: the order of a and b is as predicted or not by what is measured.
  File measured(header + "\n" + makeLine(8, 1, a / 1.25) + makeLine(4, 2, b) +
                makeLine(2, 4, c / 0.8));
  Validation validation = validateTable(measured.path, {});
  CHECK(*validation.mean == Approx(0.15).margin(1e-5));
  CHECK(*validation.median == Approx(0.2).margin(1e-5));
  CHECK(*validation.bias == Approx(0.05 / 3).margin(1e-5));
  std::vector<std::pair<double, double>> pairs = {{a, a / 1.25}, {b, b}, {c, c / 0.8}};
  double agree = 0, best = std::min({a / 1.25, b, c / 0.8});
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < i; ++j)
      agree += (pairs[i].first - pairs[j].first) * (pairs[i].second - pairs[j].second) > 0;
  CHECK(*validation.tau == Approx(2 * agree / 3 - 1));
  CHECK(*validation.regret ==
        Approx(std::min_element(pairs.begin(), pairs.end())->second / best - 1).margin(1e-5));
}

TEST_CASE("rows of other workloads are not compared") {
  std::string other = makeLine(4, 2, 2);
  other.replace(other.find("4096"), 4, "8192");
  File file(header + "\n" + makeLine(8, 1, 1) + other);
  Validation validation = validateTable(file.path, {});
  CHECK(validation.mean);
  CHECK_FALSE(validation.tau);
  CHECK_FALSE(validation.regret);
}

TEST_CASE("other columns are passed over and named") {
  File file(header + ",note,schedule\n" +
            makeLine(8, 1, 1).substr(0, makeLine(8, 1, 1).size() - 1) + ",x,1f1b\n");
  std::vector<std::string> others;
  CHECK(validateTable(file.path, {}, &others).rows[0].row.schedule == "1f1b");
  CHECK(others == std::vector<std::string>{"note"});
}

TEST_CASE("what a table has wrong is named with line and column") {
  auto change = [](const std::string &from, const std::string &to) {
    std::string line = makeLine(8, 1, 1);
    line.replace(line.find(from), from.size(), to);
    return getProblem(header + "\n" + line);
  };
  CHECK(change("2048", "-5") == ":2: column 'seq': expected a number from 1 to 1e9, got: -5");
  CHECK(change("1.000000", "-1") ==
        ":2: column 'measured_s': expected a time of at least 0, got: -1");
  CHECK(change("1.000000", "nan") ==
        ":2: column 'measured_s': expected a time of at least 0, got: nan");
  CHECK(change("4096", "") == ":2: hidden, layers, heads and seq are needed");
  CHECK(change(",32,32,", ",32,8192,") ==
        ":2: expected no more heads than hidden = 4096, got: 8192");
  CHECK(getProblem("heads,hidden,heads\n") == ":1: column 'heads' is there twice");
  CHECK(change(",full", "") == ":2: expected 18 cells, got: 17");
  CHECK(change("dgx-a100:1", "dgx-a10:1").find(":2: no cluster 'dgx-a10'") == 0);
  CHECK(change("1,8,full", "1,1000000000,full").find(":2: 1000000000 microbatches of 1 stages") ==
        0);
  CHECK(getProblem(header + ",schedule\n" +
                   makeLine(8, 1, 1).substr(0, makeLine(8, 1, 1).size() - 1) + ",zb-h9\n")
            .find(":2: column 'schedule': expected one of 1f1b, dualpipev, gpipe") == 0);
}
