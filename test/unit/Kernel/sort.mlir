// RUN: %unit/KernelCases %s
// Sorted rows: by insertion, digit by digit, with scratch memory on the stack and on the heap. Logarithms of negative
// numbers are NaN; there are few integers, so that many are equal.

func.func @short(%x: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<6x40xi64>) {
  %0, %1 = weft.sort %x axis 1 count 40 : tensor<6x40xf32> -> tensor<6x40xf32>, tensor<6x40xi64>
  return %0, %1 : tensor<6x40xf32>, tensor<6x40xi64>
}

func.func @long(%x: tensor<3x700xf32>) -> (tensor<3x700xf32>, tensor<3x700xi64>) {
  %0, %1 = weft.sort %x axis 1 count 700 descending : tensor<3x700xf32> -> tensor<3x700xf32>, tensor<3x700xi64>
  return %0, %1 : tensor<3x700xf32>, tensor<3x700xi64>
}

func.func @nan(%x: tensor<3x200xf32>) -> (tensor<3x200xf32>, tensor<3x200xi64>) {
  %0 = weft.log %x : tensor<3x200xf32>
  %1, %2 = weft.sort %0 axis 1 count 200 : tensor<3x200xf32> -> tensor<3x200xf32>, tensor<3x200xi64>
  return %1, %2 : tensor<3x200xf32>, tensor<3x200xi64>
}

func.func @equal(%x: tensor<300x4xi8>) -> (tensor<300x4xi8>, tensor<300x4xi64>) {
  %0, %1 = weft.sort %x axis 0 count 300 descending : tensor<300x4xi8> -> tensor<300x4xi8>, tensor<300x4xi64>
  return %0, %1 : tensor<300x4xi8>, tensor<300x4xi64>
}

func.func @wide(%x: tensor<2x100xi64> {test.range = array<i64: -9000000000, 9000000000>}) -> tensor<2x100xi64> {
  %0, %1 = weft.sort %x axis 1 count 100 : tensor<2x100xi64> -> tensor<2x100xi64>, tensor<2x100xi64>
  return %0 : tensor<2x100xi64>
}

func.func @doubles(%x: tensor<100xf64>) -> tensor<100xi64> {
  %0, %1 = weft.sort %x axis 0 count 100 : tensor<100xf64> -> tensor<100xf64>, tensor<100xi64>
  return %1 : tensor<100xi64>
}

func.func @halves(%x: tensor<2x90xf16>) -> (tensor<2x90xf16>, tensor<2x90xi64>) {
  %0, %1 = weft.sort %x axis 1 count 90 : tensor<2x90xf16> -> tensor<2x90xf16>, tensor<2x90xi64>
  return %0, %1 : tensor<2x90xf16>, tensor<2x90xi64>
}

func.func @flags(%x: tensor<2x70xi1>) -> (tensor<2x70xi1>, tensor<2x70xi64>) {
  %0, %1 = weft.sort %x axis 1 count 70 descending : tensor<2x70xi1> -> tensor<2x70xi1>, tensor<2x70xi64>
  return %0, %1 : tensor<2x70xi1>, tensor<2x70xi64>
}

func.func @few_of_many(%x: tensor<4x5000xf32>) -> (tensor<4x5xf32>, tensor<4x5xi64>) {
  %0, %1 = weft.sort %x axis 1 count 5 descending : tensor<4x5000xf32> -> tensor<4x5xf32>, tensor<4x5xi64>
  return %0, %1 : tensor<4x5xf32>, tensor<4x5xi64>
}

func.func @first(%x: tensor<4x50xf32>) -> (tensor<4x1xf32>, tensor<4x1xi64>) {
  %0, %1 = weft.sort %x axis 1 count 1 : tensor<4x50xf32> -> tensor<4x1xf32>, tensor<4x1xi64>
  return %0, %1 : tensor<4x1xf32>, tensor<4x1xi64>
}

func.func @on_heap(%x: tensor<2x50257xf32>) -> (tensor<2x50257xf32>, tensor<2x50257xi64>) {
  %0, %1 = weft.sort %x axis 1 count 50257 descending : tensor<2x50257xf32> -> tensor<2x50257xf32>, tensor<2x50257xi64>
  return %0, %1 : tensor<2x50257xf32>, tensor<2x50257xi64>
}
