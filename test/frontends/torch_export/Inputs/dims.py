"""dims.py OUT.pt2: a program over inputs of symbolic sizes: batch s0, length 2·s1, and as many rows as s1."""
import sys

from archive import Archive, Sym

archive = Archive()
archive.input("x_1", "float32", [Sym("Symbol('s0', positive=True, integer=True)"), Sym("Mul(Integer(2), Symbol('s1', integer=True))"), 3], "x")
archive.input("rows", "float32", [Sym("s1"), 3])
archive.ranges.update(s0={"min_val": 2, "max_val": 64}, s1={"min_val": 1, "max_val": None})
archive.nameInputs()
length = Sym("length")
archive.node("aten.sym_size.int", Sym("batch"), {"self": "x_1", "dim": 0})
archive.node("aten.sym_size.int", length, {"self": "x_1", "dim": 1})
archive.node("_operator.floordiv", Sym("half"), {"a": length, "b": 2})
archive.node("_operator.mul", Sym("flat"), {"a": Sym("batch"), "b": length})
archive.graph["sym_int_values"]["flat"] = {"as_expr": {"expr_str": "2*s0*s1", "hint": None}}
archive.node("_operator.ge", Sym("positive"), {"a": Sym("half"), "b": 1})
archive.node("aten._assert_scalar.default", [], {"self": Sym("positive"), "assert_msg": "=half of the length is 1 or more"})
archive.node("aten.view.default", "viewed", {"self": "x_1", "size": [Sym("flat"), 3]})
archive.node("aten.slice.Tensor", "first", {"self": "viewed", "dim": 0, "start": 0, "end": Sym("half")})
archive.node("aten.add.Tensor", "sum", {"self": "first", "other": "rows"})
archive.node("aten.add.Tensor", "result", {"self": "sum", "other": Sym("batch")})
archive.output("result")
archive.write(sys.argv[1])
