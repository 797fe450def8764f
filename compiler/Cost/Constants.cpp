#include "compiler/Cost/Constants.h"

#include <algorithm>
#include <array>

using namespace weft;

static constexpr std::array<ConstantInfo, 18> constantInfos{{
    {"residentTiles", &CostConstants::residentTiles, "tiles a processor", "spec",
     "two 128x128 blocks of 128 threads fit the register file of a multiprocessor (CUTLASS)"},
    {"waveShare", &CostConstants::waveShare, "1", "assumed",
     "half: the last wave's tiles run faster while others idle"},
    {"partialAlignment", &CostConstants::partialAlignment, "1", "measured",
     "cuBLAS on A100, NVIDIA's matrix multiplication guide: extents off 16 bytes"},
    {"oddAlignment", &CostConstants::oddAlignment, "1", "measured",
     "as above, extents that no vector load fits"},
    {"resultShare", &CostConstants::resultShare, "1", "assumed",
     "a tile is written when its sum is done, while others of its wave are at the same point"},
    {"treeShare", &CostConstants::treeShare, "1", "spec", "NCCL's tuning: 0.9 of a ring"},
    {"finishShare", &CostConstants::finishShare, "1", "measured",
     "nccl-tests on A100, 2 to 8 GPUs at 1 GiB: extra time falls as 1/n"},
    {"dispatch", &CostConstants::dispatch, "s", "assumed",
     "an eager framework's operation: 5 to 10 us on hosts of 2020 to 2023"},
    {"hostSharpness", &CostConstants::hostSharpness, "1", "assumed",
     "soft maximum of host and device"},
    {"overlapLoss", &CostConstants::overlapLoss, "1", "assumed",
     "a collective's blocks take 16 to 24 of 108 processors"},
    {"allocatorReserve", &CostConstants::allocatorReserve, "1", "assumed",
     "fragmentation of a caching allocator"},
    {"flashForward", &CostConstants::flashForward, "1", "measured",
     "FlashAttention-2 on A100, table 4: causal and not, head 128, of the best product"},
    {"flashBackward", &CostConstants::flashBackward, "1", "measured", "as above, backward"},
    {"line", &CostConstants::line, "B", "spec", "a line of the caches of x86 and of most others"},
    {"softmaxAdditions", &CostConstants::softmaxAdditions, "1", "assumed",
     "an exponential by a polynomial, and a row's maximum, sum and quotient"},
    {"attentionShare", &CostConstants::attentionShare, "1", "fitted",
     "measured_a100.csv and layers of vtrain_single.csv; 0.38 to 0.46 give tables as good"},
    {"streamShare", &CostConstants::streamShare, "1", "fitted", "as above; 0.74 to 0.82"},
    {"streamHalf", &CostConstants::streamHalf, "B", "fitted", "as above; 8 to 10 MB"},
}};

std::span<const ConstantInfo> weft::listConstants() { return constantInfos; }

bool weft::setConstant(CostConstants &constants, const std::string &name, double value) {
  const auto *found = std::find_if(constantInfos.begin(), constantInfos.end(),
                                   [&](const ConstantInfo &info) { return info.name == name; });
  if (found == constantInfos.end())
    return false;
  constants.*(found->value) = value;
  return true;
}
