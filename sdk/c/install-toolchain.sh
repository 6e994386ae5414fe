#!/bin/sh
# Installs what builds functions in C: clang, the linker wasm-ld, the C library for WASI
# and clang's run-time functions for wasm32 (128-bit division). Debian 12 or later, Ubuntu 22.04 or later.
set -eu
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null; then exec sudo -n "$0" "$@"; fi
  echo "install-toolchain.sh: run it as root" >&2
  exit 1
fi
apt-get update -q
apt-get install -qy --no-install-recommends clang lld wasi-libc
# The package is named after clang's version.
version=$(clang -dumpversion | cut -d. -f1)
apt-get install -qy --no-install-recommends "libclang-rt-$version-dev-wasm32"
