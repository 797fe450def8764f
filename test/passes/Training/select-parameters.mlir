// RUN: weft-opt %s --weft-select-parameters='training={loss { value: "loss" }}' | FileCheck %s --check-prefix=ALL
// RUN: weft-opt %s --weft-select-parameters='training={loss { value: "loss" } parameter_pattern: "^h.*up$"}' | FileCheck %s --check-prefix=PATTERN
// RUN: weft-opt %s --weft-select-parameters='training={loss { value: "loss" } parameters: ["h.down", "head"]}' | FileCheck %s --check-prefix=NAMES
// RUN: not weft-opt %s --weft-select-parameters='training={loss { value: "loss" } parameter_pattern: "up.wright"}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --weft-select-parameters='training={loss { value: "loss" } parameters: ["h.dwon", "mask", "h.up"]}' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft-opt %s --weft-select-parameters='training={loss { value: "loss" } parameter_pattern: "("}' 2>&1 | FileCheck %s --check-prefix=REGEX

// Parameters of floats; tied ones are one, by their first name.
// ALL: weft.weight kind(trained) @embedding
// ALL-NEXT: weft.weight kind(trained) @h.up
// ALL-NEXT: weft.weight kind(trained) @h.down
// ALL-NEXT: weft.weight kind(constant) @mask
// ALL-NEXT: weft.weight @steps
// ALL-NEXT: func.func
// ALL: weft.load @embedding
// ALL: weft.load @embedding

// PATTERN: weft.weight @embedding
// PATTERN-NEXT: weft.weight kind(trained) @h.up
// PATTERN-NEXT: weft.weight @h.down

// NAMES: weft.weight kind(trained) @embedding
// NAMES-NEXT: weft.weight @h.up
// NAMES-NEXT: weft.weight kind(trained) @h.down

// NONE: 'up.wright' is neither a file nor found in the name of any of 3 parameters
// UNKNOWN: the model has no parameter 'h.dwon', did you mean 'h.down'?
// UNKNOWN: weight 'mask' is no parameter of floats: 'tensor<8xf32>', constant
// REGEX: parameter_pattern '(' is no regular expression

weft.weight @embedding : tensor<8xf32> = #weft.external<"w.bin", 0, 32>
weft.weight @h.up : tensor<8xf32> = #weft.external<"w.bin", 32, 32>
weft.weight @h.down : tensor<8xf32> = #weft.external<"w.bin", 64, 32>
weft.weight @head : tensor<8xf32> = #weft.external<"w.bin", 0, 32>
weft.weight kind(constant) @mask : tensor<8xf32> = dense<1.0> : tensor<8xf32>
weft.weight @steps : tensor<8xi64> = #weft.external<"w.bin", 96, 64>
func.func @main() -> tensor<8xf32> {
  %0 = weft.load @embedding : tensor<8xf32>
  %1 = weft.load @head : tensor<8xf32>
  %2 = weft.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
