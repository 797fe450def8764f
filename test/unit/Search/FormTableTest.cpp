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
