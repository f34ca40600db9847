#!/usr/bin/env bash
# Make the public images that the project builds on available to the Docker engine.
# They are pulled where a registry can be reached. Elsewhere a stand-in of the same name is built
# from Debian's packages: the same programs, users and folders as far as the project relies on them,
# with this machine's apt sources and trusted certificates, so that apt and pip work inside builds.
# Idempotent: an image that is there is kept (docker rmi makes it anew).
set -euo pipefail

python_image=python:3.11-slim-bookworm
redis_image=redis:7-bookworm
postgres_image=postgres:15-bookworm

log() { printf 'make-base-image: %s\n' "$*" >&2; }
have() { docker image inspect "$1" >/dev/null 2>&1 || docker pull -q "$1" >/dev/null 2>&1; }

make_python_image() {
  local work root mirror
  work=$(mktemp -d)
  root=$work/root
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$work'" EXIT
  # shellcheck disable=SC2016  # apt-get expands it
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' \
    | awk '/\/debian\/$/ && !found++')
  command -v debootstrap >/dev/null \
    || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap >/dev/null
  debootstrap --variant=minbase \
    --include=ca-certificates,netbase,python3,python3-pip,python3-venv,tzdata \
    bookworm "$root" "$mirror" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }

  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  rm "$root/etc/apt/sources.list"
  cp -a /etc/apt/. "$root/etc/apt/"
  # as in the official image: python without the 3, pip that installs, no services at install time
  ln -s /usr/bin/python3 "$root/usr/local/bin/python"
  rm -f "$root"/usr/lib/python3.*/EXTERNALLY-MANAGED
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man}/*
  tar -C "$root" --numeric-owner -c . | docker import --change 'CMD ["python3"]' \
    --change 'ENV LANG=C.UTF-8 PIP_CERT=/etc/ssl/certs/ca-certificates.crt' - "$python_image" >/dev/null
}

make_redis_image() {
  docker build -q -t "$redis_image" - >/dev/null <<DOCKERFILE
FROM $python_image
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server \
    && install -d -o redis -g redis /data
WORKDIR /data
VOLUME /data
EXPOSE 6379
CMD ["redis-server"]
DOCKERFILE
}

make_postgres_image() {
  docker build -q -t "$postgres_image" - >/dev/null <<DOCKERFILE
FROM $python_image
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends postgresql-common \
    && echo 'create_main_cluster = false' >> /etc/postgresql-common/createcluster.conf \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-15 \
    && install -d -o postgres -g postgres /var/lib/postgresql/data
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
VOLUME /var/lib/postgresql/data
EXPOSE 5432
CMD ["postgres"]
DOCKERFILE
}

have "$python_image" || { log "building a stand-in of $python_image"; make_python_image; }
have "$redis_image" || { log "building a stand-in of $redis_image"; make_redis_image; }
have "$postgres_image" || { log "building a stand-in of $postgres_image"; make_postgres_image; }
