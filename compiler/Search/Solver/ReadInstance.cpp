//===- ReadInstance.cpp - instances from JSON, gzipped or not -------------===//

#include "compiler/Search/Solver/Instance.h"
#include "compiler/Search/Solver/JsonReader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <zlib.h>

using namespace weft::solver;

namespace {

/// Reads the members of `problem` wherever they stand; notes which were there.
class InstanceReader {
public:
  explicit InstanceReader(JsonReader::Source source) : json(std::move(source)) {}

  Instance read() {
    bool found = false;
    json.readObject([&](const std::string &key) {
      if (key != "problem")
        return json.skipValue();
      found = true;
      readProblem();
    });
    json.expectEnd();
    if (!found)
      throw InstanceError("expected an object with the member 'problem'");
    validate(instance);
    return std::move(instance);
  }

private:
  void readProblem() {
    bool nodes = false, edges = false;
    json.readObject([&](const std::string &key) {
      if (key == "nodes") {
        nodes = true;
        readNodes();
      } else if (key == "edges") {
        edges = true;
        readEdges();
      } else if (key == "usage_limit") {
        instance.usageLimit = json.readInteger();
      } else if (key == "name") {
        instance.name = json.readString();
      } else {
        json.skipValue();
      }
    });
    if (!nodes || !edges)
      throw InstanceError(fmt::format("expected problem.{}", nodes ? "edges" : "nodes"));
  }

  void readNodes() {
    json.readObject([&](const std::string &key) {
      if (key == "intervals")
        readIntervals();
      else if (key == "costs")
        readLists(instance.costs);
      else if (key == "usages")
        readLists(instance.usages);
      else
        json.skipValue();
    });
  }

  void readEdges() {
    json.readObject([&](const std::string &key) {
      if (key == "nodes")
        readLists(instance.edges);
      else if (key == "costs")
        readLists(instance.edgeCosts);
      else
        json.skipValue();
    });
  }

  void readLists(Ragged<int64_t> &lists) {
    lists = {};
    json.readArray([&] {
      json.readArray([&] { lists.values.push_back(json.readInteger()); });
      lists.close();
    });
  }

  void readIntervals() {
    Ragged<int64_t> pairs;
    readLists(pairs);
    instance.intervals.clear();
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].size() != 2)
        throw InstanceError(
            fmt::format("expected the interval of node {} to be [begin, end], got {} numbers", i,
                        pairs[i].size()));
      instance.intervals.push_back({pairs[i][0], pairs[i][1]});
    }
  }

  JsonReader json;
  Instance instance;
};

/// Decompresses with zlib, which passes files through that are not compressed.
class GzipFile {
public:
  explicit GzipFile(const std::string &path) : file(gzopen(path.c_str(), "rb"), &gzclose) {
    if (!file)
      throw InstanceError(std::strerror(errno));
    gzbuffer(file.get(), 1 << 17);
  }
  size_t read(char *buffer, size_t size) {
    int count = gzread(file.get(), buffer, unsigned(size));
    int error = Z_OK;
    const char *message = gzerror(file.get(), &error);
    if (count < 0 || (error != Z_OK && error != Z_STREAM_END))
      throw InstanceError(error == Z_ERRNO ? std::strerror(errno)
                                           : fmt::format("damaged gzip data: {}", message));
    return size_t(count);
  }

private:
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file;
};

} // namespace

Instance weft::solver::readInstance(const std::string &path) {
  GzipFile file(path);
  return InstanceReader([&](char *buffer, size_t size) { return file.read(buffer, size); }).read();
}

Instance weft::solver::parseInstance(std::string_view text) {
  return InstanceReader([&](char *buffer, size_t size) {
           size_t count = std::min(size, text.size());
           std::memcpy(buffer, text.data(), count);
           text.remove_prefix(count);
           return count;
         })
      .read();
}
