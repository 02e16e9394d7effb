#!/usr/bin/env bash
# A client in another language: Debian's Python with grpcio, stubs made from protos/ at run time, against a local ensemble.
# Needs a built checkout and the packages protobuf-compiler, protobuf-compiler-grpc, python3-grpcio and python3-protobuf.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
for tool in protoc grpc_python_plugin /usr/bin/python3; do
  command -v "$tool" >/dev/null || { echo "python: $tool is missing: apt-get install protobuf-compiler protobuf-compiler-grpc python3-grpcio python3-protobuf"; exit 1; }
done
work=$(mktemp -d /tmp/quorate-python.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/stubs"
(cd "$root/protos" && find quorate/v1 -name '*.proto') | xargs protoc -I "$root/protos" \
  --python_out="$work/stubs" --grpc_out="$work/stubs" --plugin=protoc-gen-grpc="$(command -v grpc_python_plugin)"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/stubs" INTEROP_CLI="$root/packages/cli/bin/quorate.mjs" INTEROP_WORK="$work" \
  /usr/bin/python3 "$here/test_quorate.py"
