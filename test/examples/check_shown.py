"""check_shown.py DOCUMENT FOLDER: fails unless each C++ block of the document is a part of a file in the folder."""
import pathlib
import re
import sys

document, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sources = [path.read_text() for path in folder.glob("*.cpp")]
blocks = re.findall(r"^```cpp\n(.*?)^```", document.read_text(), re.M | re.S)
strange = [block for block in blocks if not any(block in source for source in sources)]
for block in strange:
    print(f"no example has this part:\n{block}")
if not blocks:
    print(f"{document} shows no C++")
sys.exit(1 if strange or not blocks else 0)
