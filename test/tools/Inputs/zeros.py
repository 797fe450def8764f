"""zeros.py ROWS COLUMNS FILE.npy: a matrix of f32 zeros."""
import struct
import sys

rows, columns = int(sys.argv[1]), int(sys.argv[2])
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
with open(sys.argv[3], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * rows * columns))
