"""terminal.py COMMAND…: runs a command whose standard error is a terminal, and prints what it says there, a line for each return of the carriage."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
said = b""
while True:
    try:
        piece = os.read(ours, 4096)
    except OSError:  # what Linux says of a terminal that nobody has open any more
        break
    if not piece:
        break
    said += piece
sys.stdout.write(said.decode().replace("\r\n", "\n").replace("\r\x1b[K", "\n"))
sys.exit(process.wait())
