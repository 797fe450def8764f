"""exits.py CODE COMMAND…: runs a command, passes on what it says, and fails unless it ends with that exit code."""
import subprocess
import sys

done = subprocess.run(sys.argv[2:], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stdout.write(done.stdout)
if done.returncode != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, got: {done.returncode}")
