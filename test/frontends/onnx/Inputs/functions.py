"""functions.py: prints a small model of functions, each of which calls the next one twice; the last has many nodes that nobody needs."""
LEVELS, UNUSED = 12, 20000


def call(domain, operator, source, result):
    return f'  node {{ domain: "{domain}" op_type: "{operator}" input: "{source}" output: "{result}" }}'


print("""ir_version: 8
opset_import { version: 17 }
opset_import { domain: "local" version: 1 }
graph {
  name: "functions"
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }""")
print(call("local", "f0", "x", "y") + "\n}")
for level in range(LEVELS):
    domain, inner = ("local", f"f{level + 1}") if level + 1 < LEVELS else ("", "Neg")
    print(f'functions {{\n  name: "f{level}" domain: "local" input: "a" output: "b"')
    print('  opset_import { version: 17 }\n  opset_import { domain: "local" version: 1 }')
    print(call(domain, inner, "a", "c"), call(domain, inner, "c", "b"), sep="\n")
    if level + 1 == LEVELS:
        print(*(call("", "Neg", "a", f"unused{index}") for index in range(UNUSED)), sep="\n")
    print("}")
