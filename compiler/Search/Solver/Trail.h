//===- Trail.h - how a reduced answer becomes an answer ---------*- C++ -*-===//
//
// Every reduction notes here how the choice of the nodes that it touched follows from the choices
// of others. Read backwards, the notes turn an answer of the reduced problem into one of the
// original.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_TRAIL_H
#define WEFT_COMPILER_SEARCH_SOLVER_TRAIL_H

#include <cstddef>
#include <vector>

namespace weft::solver {

class Trail {
public:
  /// `node` has lost strategies: its strategy s was `kept[s]` before.
  void noteKept(int node, std::vector<int> kept) {
    steps.push_back({node, node, -1, 0, std::move(kept)});
  }
  /// `node` follows `leader`: it takes choice[s] where that takes s.
  void noteFollower(int node, int leader, std::vector<int> choice) {
    steps.push_back({node, leader, -1, 0, std::move(choice)});
  }
  /// `node` takes choice[s · count + t] where `first` takes s and `second`, of `count` strategies,
  /// takes t; without neighbours both are -1 and it takes choice[0].
  void noteEliminated(int node, int first, int second, size_t count, std::vector<int> choice) {
    steps.push_back({node, first, second, count, std::move(choice)});
  }

  /// Completes an answer in place; entries of nodes that are gone are ignored.
  void complete(std::vector<int> &answer) const {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      size_t index = step->first < 0 ? 0 : answer[step->first];
      if (step->second >= 0)
        index = index * step->count + answer[step->second];
      answer[step->node] = step->choice[index];
    }
  }

private:
  struct Step {
    int node, first, second;
    size_t count;
    std::vector<int> choice;
  };
  std::vector<Step> steps;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_TRAIL_H
