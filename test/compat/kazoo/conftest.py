"""Runs kazoo's own tests (those that Debian ships with it) against members of Quorate: its suite starts and stops ZooKeeper
servers, and here it starts and stops members in their place. On the real one: the same without this file. See run.sh."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from kazoo.testing import common

ROOT = Path(os.environ["REPOSITORY_ROOT"])
MEMBER = [os.environ.get("NODE", "node"), str(ROOT / "packages/cli/bin/quorate.mjs"), "serve"]


class ManagedMember(common.ManagedZooKeeper):
    """A member as kazoo's harness wants a server: the ports are those that it chose."""

    def run(self):
        if self.running:
            return
        os.makedirs(self.working_path, exist_ok=True)
        servers = sorted([self.server_info, *self.peers], key=lambda one: one.server_id)
        ensemble = ",".join(
            "%d=127.0.0.1:%d%s" % (one.server_id, one.leader_port, ":observer" if one.peer_type == "observer" else "")
            for one in servers
        )
        environment = dict(os.environ)
        environment["QUORATE_SUPER_DIGEST"] = "super:D/InIHSb7yEEbrWz8b9l71RjZJU="
        environment["QUORATE_SASL_USERS"] = "super:super_secret,jaasuser:jaas_password"
        flags = {
            "data-dir": os.path.join(self.working_path, "data"),
            "ensemble": ensemble,
            "sid": self.server_info.server_id,
            "bind": "127.0.0.1",
            "zookeeper-port": self.server_info.client_port,
            "grpc-port": self.server_info.election_port,
            "admin-port": self.server_info.admin_port,
            "four-letter-words": "*",
            "log-level": "warn",
        }
        log = open(os.path.join(self.working_path, "member.log"), "ab")
        arguments = ["--%s=%s" % item for item in flags.items()]
        self.process = subprocess.Popen(MEMBER + arguments, env=environment, stdout=log, stderr=log)
        log.close()
        self._running = True

    def reset(self):
        self.stop()
        shutil.rmtree(os.path.join(self.working_path, "data"), True)


if os.environ.get("KAZOO_AGAINST", "quorate") == "quorate":
    common.ManagedZooKeeper.run = ManagedMember.run
    common.ManagedZooKeeper.reset = ManagedMember.reset

del tempfile
