"""errors.py FOLDER: StableHLO texts that are wrong in one way each; every one must end with exit code 3 and its message."""
import pathlib
import subprocess
import sys

FUNCTION = """"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
  ^bb0(%%x: tensor<4xf32>):
%s
    "func.return"(%%y) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "again"}> ({
  ^bb0(%%x: tensor<4xf32>):
    %%y = "func.call"(%%x) <{callee = @again}> : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%%y) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""
LOOP = """    %%y = "stablehlo.while"(%%x) ({
    ^bb0(%%c: tensor<4xf32>):
      %s
      "stablehlo.return"(%%go) : (tensor<i1>) -> ()
    }, {
    ^bb0(%%c: tensor<4xf32>):
      "stablehlo.return"(%%c) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>"""

SORT = """    %%y = "stablehlo.sort"(%%x) <{dimension = 0 : i64}> ({
    ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):
      %%k = "stablehlo.constant"() <{value = dense<%s> : tensor<f32>}> : () -> tensor<f32>
      %%n = "stablehlo.compare"(%%a, %s) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %%s = "stablehlo.select"(%%n, %%k, %%a) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %%c = "stablehlo.compare"(%%s, %%b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%%c) : (tensor<i1>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>"""


def body(text):
    return FUNCTION % text


def unary(operation, attributes="", result="tensor<4xf32>"):
    return body(f'    %z = "{operation}"(%x) {attributes}: (tensor<4xf32>) -> {result}\n'
                '    %y = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>')


def turned(operation, result="tensor<4xcomplex<f32>>", regions=""):
    types = ", ".join(["tensor<4xcomplex<f32>>"] * (operation.count("%")))
    return body('    %z = "stablehlo.complex"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>\n'
                f'    %w = {operation} {regions} : ({types}) -> {result}\n'
                '    %y = "stablehlo.real"(%z) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>')


PRODUCT = """({
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %c = "stablehlo.multiply"(%a, %b) : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
      "stablehlo.return"(%c) : (tensor<complex<f32>>) -> ()
    })"""

CASES = {
    "truncated": (unary("stablehlo.abs")[:300], "line "),
    "pretty": ("module {\n  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n    %0 = stablehlo.abs %x : tensor<4xf32>\n"
               "    return %0 : tensor<4xf32>\n  }\n}\n", "pretty form, which only the StableHLO library reads"),
    "vhlo": ('"builtin.module"() ({\n  "vhlo.func_v1"() ({}) : () -> ()\n}) : () -> ()\n', "portable StableHLO artifact"),
    "bytecode": (b"ML\xefR\x0d", "portable StableHLO artifact"),
    "nested": ('"stablehlo.abs"(' + "(" * 5000, "brackets nest deeper than 256 in line 1"),
    "no main": ('"builtin.module"() ({\n}) : () -> ()\n', "it has no function @main"),
    "unknown operations": (body('    %a = "stablehlo.fft"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/fft")\n'
                                '    %y = "chlo.zeta"(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n'
                                '    %z = "chlo.zeta"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/zeta")'),
                           "operator stablehlo.fft is not supported: node 'jit(f)/fft'", "operator chlo.zeta is not supported"),
    "operands": (unary("stablehlo.add"), "expected 2 operands, got 1"),
    "result type": (unary("stablehlo.abs", result="tensor<5xf32>"), "result 0 is declared 5xf32, but is 4xf32"),
    "element type": (unary("stablehlo.convert", result="tensor<4xf8E5M2>"), "element type f8E5M2 is not supported"),
    "complex operand": (turned('"stablehlo.tanh"(%z)'), "(stablehlo.tanh): complex numbers are not supported here"),
    "complex operands": (turned('"stablehlo.multiply"(%z)'), "(stablehlo.multiply): expected 2 operands, got 1"),
    "complex result": (turned('"stablehlo.exponential"(%z)', "tensor<5xcomplex<f32>>"), "(stablehlo.exponential): its result is declared otherwise"),
    "complex reduction": (turned('"stablehlo.reduce"(%z, %z) <{dimensions = array<i64: 0>}>', regions=PRODUCT),
                          "(stablehlo.reduce): its region does more to complex numbers than to add them"),
    "complex order": (body('    %i = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>\n'
                           '    %y = "stablehlo.case"(%i) ({\n'
                           '      %r = "stablehlo.real"(%z) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>\n'
                           '      %z = "stablehlo.complex"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>\n'
                           '      "stablehlo.return"(%r) : (tensor<4xf32>) -> ()\n'
                           '    }) : (tensor<i32>) -> tensor<4xf32>'),
                      "(stablehlo.real): it uses a value that is not made before it"),
    "complex integers": (unary("stablehlo.convert", result="tensor<4xcomplex<i32>>"), "element type complex<i32> is not supported"),
    "complex argument": (body("    %y = \"stablehlo.abs\"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>").replace("(%x: tensor<4xf32>", "(%x: tensor<4xcomplex<f32>>", 1)
                         .replace("function_type = (tensor<4xf32>)", "function_type = (tensor<4xcomplex<f32>>)", 1),
                         "argument 'arg0': element type complex<f32> is not supported"),
    "dynamic": (unary("stablehlo.abs", result="tensor<?xf32>"), "has a dimension without a size; trace the function with concrete shapes"),
    "huge": (unary("stablehlo.broadcast_in_dim", "<{broadcast_dimensions = array<i64: 0>}>", "tensor<4x4611686018427387904xf32>"),
             "exceeds 2^48 bytes"),
    "dimensions": (unary("stablehlo.transpose", "<{permutation = array<i64: 7>}>"), "expected distinct dimensions below 1 in 'permutation'"),
    "missing": (unary("stablehlo.slice"), "it has no attribute 'start_indices'"),
    "malformed": (body('    %y = "stablehlo.gather"(%x, %x) <{dimension_numbers = #stablehlo.gather<offset_dims = [>}> : '
                       '(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'), "line "),
    "not a dot": (body('    %y = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> : '
                       '(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'), "malformed attribute 'scatter<index_vector_dim = 1>': expected 'dot'"),
    "region": (body('    %y = "stablehlo.reduce"(%x, %x) <{dimensions = array<i64: 0>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'),
               "cannot reduce 4xf32 from 4xf32"),
    "NaN to the front": (body(SORT % ("0xFF800000", "%a")), "its comparator is not known"),
    "another element": (body(SORT % ("0x7FC00000", "%b")), "its comparator is not known"),
    "recursion": (body('    %y = "func.call"(%x) <{callee = @again}> : (tensor<4xf32>) -> tensor<4xf32>'),
                  "function @again calls itself, which is not supported"),
    "no callee": (body('    %y = "func.call"(%x) <{callee = @nowhere}> : (tensor<4xf32>) -> tensor<4xf32>'), "function @nowhere has no body"),
    "foreign": (unary("stablehlo.custom_call", '<{call_target_name = "lapack_spotrf_ffi"}>'),
                "a call of the foreign function 'lapack_spotrf_ffi' is not supported"),
    "endless": (body(LOOP % '%go = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>'.replace("%%", "%")),
                "it runs for more than 100000 rounds"),
    "rounds": (body((LOOP % '%%s = "stablehlo.slice"(%%c) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1xf32>\n'
                     '      %%r = "stablehlo.reshape"(%%s) : (tensor<1xf32>) -> tensor<f32>\n'
                     '      %%go = "stablehlo.compare"(%%r, %%r) <{comparison_direction = #stablehlo<comparison_direction LT>}> : '
                     '(tensor<f32>, tensor<f32>) -> tensor<i1>').replace("%%", "%")),
               "its number of rounds is not known before the model runs"),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = 0
    for name, (text, *messages) in CASES.items():
        path = folder / "model.mlir"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run(["weft", "import", path], capture_output=True, text=True, timeout=60)
        missing = [message for message in messages if message not in done.stderr]
        if done.returncode != 3 or missing or not done.stderr.startswith("error: "):
            failed += 1
            print(f"{name}: exit {done.returncode}, without {missing}:\n{done.stderr[:600]}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
