"""external.py LOCATION OFFSET LENGTH: the text of a model whose one weight, 8 floats, lies in a data file."""
import sys

print("""ir_version: 8
opset_import { version: 17 }
graph {
  name: "external"
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 8 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  initializer {
    name: "w" dims: 8 data_type: 1 data_location: EXTERNAL
    external_data { key: "location" value: "%s" }
    external_data { key: "offset" value: "%s" }
    external_data { key: "length" value: "%s" }
  }
  node { op_type: "Add" input: "x" input: "w" output: "y" }
}""" % tuple(sys.argv[1:]))
