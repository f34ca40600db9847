#!/usr/bin/env bash
# Make a Docker engine with Compose v2 answer here, installing from Debian what is missing.
# Idempotent: an engine that already answers is used as it is. Needs root otherwise.
# The engine outlives this script; its process id is in /var/run/docker.pid.
set -euo pipefail

log_file=/var/log/dockerd.log
pid_file=/var/run/docker.pid

log() { printf 'start-docker: %s\n' "$*" >&2; }
answers() { docker info >/dev/null 2>&1; }

install_engine() {
  local missing=()
  command -v docker >/dev/null && command -v dockerd >/dev/null || missing+=(docker.io)
  command -v runc >/dev/null || missing+=(runc)
  command -v iptables >/dev/null || missing+=(iptables)
  [ ${#missing[@]} -gt 0 ] || return 0
  log "installing ${missing[*]}"
  # RUNLEVEL=1 keeps the package from starting the service: there may be no init system to own it.
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

start_engine() {
  local device mtu pid
  # Without any cgroup file system (a bare container or virtual machine) no container can start.
  mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
  # The host's own link may carry less than Docker's 1500 bytes, and larger packets would vanish.
  device=$(ip -o route show default | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -n 1)
  mtu=$(cat "/sys/class/net/${device:-lo}/mtu")
  # After a crash the file may name a process that is not an engine, and would keep one from starting.
  pid=$(cat "$pid_file" 2>/dev/null || true)
  if [ -n "$pid" ] && ! grep -qs dockerd "/proc/$pid/cmdline"; then rm -f "$pid_file"; fi

  log "starting dockerd, log in $log_file"
  setsid dockerd --pidfile "$pid_file" --mtu "$((mtu < 1500 ? mtu : 1500))" \
    >"$log_file" 2>&1 </dev/null &
  pid=$!
  for _ in {1..600}; do
    answers && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  log "dockerd did not come up"
  tail -n 20 "$log_file" >&2
  exit 1
}

# Debian 12 has no Compose v2, Debian 13 has. Its two programs stand alone, so they are unpacked as
# plug-ins of the Docker client; a private apt state keeps the newer release out of the system.
install_plugins() {
  local missing=() work mirror
  docker compose version >/dev/null 2>&1 || missing+=(docker-compose)
  docker buildx version >/dev/null 2>&1 || missing+=(docker-buildx)
  [ ${#missing[@]} -gt 0 ] || return 0
  log "installing ${missing[*]}"
  work=$(mktemp -d)
  mkdir -p "$work"/{state,cache,debs,root}
  # the mirror that this machine's apt already uses
  # shellcheck disable=SC2016  # apt-get expands it
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' \
    | awk '/\/debian\/$/ && !found++')
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
    >"$work/sources.list"
  local apt=(apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=-
    -o Dir::State::Lists="$work/state" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root)
  "${apt[@]}" update
  (cd "$work/debs" && "${apt[@]}" download "${missing[@]}")
  for deb in "$work"/debs/*.deb; do dpkg --extract "$deb" "$work/root"; done
  install -D -t /usr/local/lib/docker/cli-plugins \
    "$work"/root/usr/libexec/docker/cli-plugins/docker-*
  rm -r "$work"
}

if ! answers; then
  install_engine
  answers || start_engine
fi
install_plugins
log "$(docker version --format 'engine {{.Server.Version}}'), compose $(docker compose version --short)"
