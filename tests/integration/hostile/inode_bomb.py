"""Makes empty files until there are no more inodes, and counts them."""

made = 0
for folder in ("/work", "/tmp", "/dev/shm"):
    try:
        while True:
            open(f"{folder}/{made}", "w").close()
            made += 1
    except OSError:
        pass
print(made)
