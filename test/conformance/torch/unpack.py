"""unpack.py CASES.tar.xz FOLDER: unpacks what make_cases.py wrote and makes .pt2 archives of its programs."""
import base64
import json
import pathlib
import sys
import tarfile
import zipfile

folder = pathlib.Path(sys.argv[2])
with tarfile.open(sys.argv[1]) as archive:
    archive.extractall(folder)
for path in folder.glob("*/*.json"):
    with zipfile.ZipFile(path.with_suffix(".pt2"), "w", zipfile.ZIP_STORED) as target:
        for name, content in json.loads(path.read_text()).items():
            is_raw = isinstance(content, dict)
            target.writestr(zipfile.ZipInfo(name), base64.b64decode(content["base64"]) if is_raw else content)
    path.unlink()
