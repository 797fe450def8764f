"""full_device.py MODEL: writes a plan to devices like /dev/null and /dev/full, made here: they must be written through, and stay."""
import os
import stat
import subprocess
import sys

for name, minor, code, message in (("null", 3, 0, ""), ("full", 7, 5, "error: cannot write 'full': No space left on device\n")):
    try:
        os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(1, minor))
        os.close(os.open(name, os.O_WRONLY))
    except OSError as error:
        print(f"skipped, no devices can be made here: {error}")
        break
    done = subprocess.run(["weft", "plan", sys.argv[1], "--quiet", "-o", name], stderr=subprocess.PIPE, text=True)
    if (done.returncode, done.stderr) != (code, message) or not stat.S_ISCHR(os.lstat(name).st_mode):
        sys.exit(f"{name}: exit {done.returncode}, {done.stderr!r}, {os.lstat(name)}")
