"""Prints everything it can find out that is not its own."""

import glob
import os
import sys

seen = []


def readable(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False


secrets = ("/etc/shadow", "/proc/1/environ", "/proc/1/mem", "/proc/kcore", "/dev/mem", "/dev/kmsg")
seen += [path for path in secrets if readable(path)]
folders = ("/sockets", "/opt/rewarden", "/sys", "/var/run/docker.sock", "/run/docker.sock")
seen += [
    path
    for path in folders
    if os.path.exists(path) and (not os.path.isdir(path) or os.listdir(path))
]
seen += [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
seen += [f"descriptor {name}" for name in os.listdir("/proc/self/fd") if int(name) > 3]
seen += [
    name for name in os.environ if "REWARDEN" in name or "DOCKER" in name or name == "PYTHONPATH"
]
seen += [name for name in sys.modules if name.startswith("sandbox")]
seen += [place for place in sys.path if "rewarden" in place]
seen += glob.glob("/dev/[svxn][dv]*") + glob.glob("/dev/loop*") + glob.glob("/dev/fuse")
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines())
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    if int(status[name], 16):
        seen.append(name)
if status["NoNewPrivs"] != "1" or status["Seccomp"] != "2" or os.getuid() == 0 or os.getgroups():
    seen.append(f"privileges: {status['NoNewPrivs']} {status['Seccomp']} {os.getuid()}")
names = [os.uname().nodename, *open("/proc/self/cgroup").read().split()]
print(seen)
