#include "compiler/Search/FormTable.h"

#include "test/unit/Cost/Clusters.h"
#include "test/unit/Sharding/Network.h"

using namespace weft;

TEST_CASE("tables number forms once, and price ways where there are any") {
  const MeshShape two{"mesh", {{"model", 2}}};
  const ClusterModel cluster = getCluster("dgx-h100");
  MeshPrices prices(two, cluster);
  const AxisRef axis = fullAxis(two, 0);
  FormTables tables;
  FormTable &forms = tables.of({64, 32}, 4);
  CHECK(&tables.of({64, 32}, 4) == &forms);
  CHECK(&tables.of({64, 32}, 2) != &forms);
  unsigned whole = forms.add(split({{}, {}})), rows = forms.add(split({{axis}, {}})),
           sum = forms.add({{{}, {}}, {axis}, ReduceKind::Sum}),
           most = forms.add({{{}, {}}, {axis}, ReduceKind::Max});
  CHECK(forms.add(split({{axis}, {}})) == rows);
  CHECK(forms.size() == 4);
  TensorSharding units = split({{axis}, {}});
  units.dims[0].unit = 3;
  CHECK(forms.add(units) == 4); // another form
  CHECK(forms.getBytes(whole) == 64 * 32 * 4);
  CHECK(forms.getBytes(rows) == 32 * 32 * 4);
  CHECK(forms.getSeconds(rows, rows, prices) == 0);
  CHECK(forms.getSeconds(sum, whole, prices) ==
        prices.getCollectiveSeconds(ReshardKind::AllReduce, {axis}, 64 * 32 * 4));
  CHECK(std::isinf(forms.getSeconds(whole, sum, prices))); // a sum is not taken apart
  CHECK(std::isinf(forms.getSeconds(sum, most, prices)));
}

/// All forms of two dimensions on axes of 4 and 6, whole and in parts, sums among them.
static std::vector<TensorSharding> listForms(const MeshShape &mesh) {
  std::vector<AxisList> lists(1);
  for (AxisRef axis : {fullAxis(mesh, 0), fullAxis(mesh, 1), AxisRef{0, 1, 2}, AxisRef{0, 2, 2},
                       AxisRef{1, 1, 2}, AxisRef{1, 1, 3}, AxisRef{1, 3, 2}}) {
    lists.emplace_back();
    append(lists.back(), axis);
  }
  lists.emplace_back();
  append(lists.back(), fullAxis(mesh, 1));
  append(lists.back(), fullAxis(mesh, 0));
  std::vector<TensorSharding> forms;
  for (const AxisList &rows : lists)
    for (const AxisList &columns : lists) {
      if (overlaps(rows, columns))
        continue;
      forms.push_back(split({rows, columns}));
      for (unsigned axis : {0, 1})
        if (AxisRef sum = fullAxis(mesh, axis); !overlaps(rows, sum) && !overlaps(columns, sum))
          forms.push_back({{rows, columns}, {sum}, ReduceKind::Sum});
    }
  return forms;
}

/// The same of a tensor with a whole dimension more between the others; as it is where there are
/// none.
static TensorSharding widen(TensorSharding form, int64_t between) {
  if (between > 0)
    form.dims.insert(form.dims.begin() + 1, AxisList());
  return form;
}

TEST_CASE(
    "ways are priced as those of the shape itself, even blocks or not, whatever came before") {
  const MeshShape mesh{"mesh", {{"data", 4}, {"model", 6}}};
  const ClusterModel cluster = getCluster("dgx-h100:4");
  MeshPrices prices(mesh, cluster);
  FormTables tables;
  std::vector<TensorSharding> forms = listForms(mesh);
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{48, 24},
                               {7, 24},
                               {2400, 48},
                               {12, 6},
                               {24, 7200},
                               {1, 24},
                               {0, 24}})
    for (int64_t between : {0, 5, 1})
      for (int64_t elementBytes : {4, 2}) {
        llvm::SmallVector<int64_t> shape{rows, columns};
        if (between > 0)
          shape.insert(shape.begin() + 1, between);
        FormTable &table = tables.of(shape, elementBytes);
        for (const TensorSharding &narrow : forms)
          for (const TensorSharding &other : forms) {
            if (narrow == other)
              continue;
            TensorSharding from = widen(narrow, between), to = widen(other, between);
            std::optional<ReshardPath> path = findReshardPath(mesh, shape, elementBytes, from, to);
            double seconds = path ? prices.getSeconds(*path, from, shape, elementBytes) : INFINITY;
            INFO(rows << " x " << columns << ", " << str(mesh, from) << " to " << str(mesh, to));
            REQUIRE(table.getSeconds(table.add(from), table.add(to), prices) == seconds);
          }
      }
}
