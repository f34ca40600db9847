"""Fills every place that can be written to, and counts the mebibytes that fit."""

import errno

written = 0
for folder in ("/work", "/tmp", "/dev/shm", "/var/tmp", "/dev", "/", "/run"):
    try:
        with open(f"{folder}/fill", "wb", buffering=0) as file:
            while True:
                written += file.write(bytes(1 << 20))
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EROFS, errno.EACCES, errno.ENOENT}:
            raise
print(written >> 20)
