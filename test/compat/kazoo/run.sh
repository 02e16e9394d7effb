#!/usr/bin/env bash
# kazoo's own tests, against members of this repository (built). Needs Debian's python3-kazoo, python3-pytest and python3-pure-sasl.
# KAZOO_AGAINST=zookeeper runs them against Apache ZooKeeper of /usr/share/java instead. More arguments go to pytest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
suite=$(/usr/bin/python3 -c 'import kazoo.tests, os; print(os.path.dirname(kazoo.tests.__file__))')
export ZOOKEEPER_VERSION=3.8.0 REPOSITORY_ROOT=${here%/test/compat/kazoo}
if [ "${KAZOO_AGAINST:-quorate}" = zookeeper ]; then export ZOOKEEPER_CLASSPATH='/usr/share/java/*:/etc/zookeeper/conf'; fi
cd "$(mktemp -d /tmp/quorate-kazoo.XXXXXX)"
cp "$here/conftest.py" .
exec /usr/bin/python3 -m pytest -p conftest -p no:cacheprovider --rootdir="$suite" "${@:-$suite}"
