"""Members for tests in Python: the processes, the stubs of each, and the detail that comes with an error."""
import os
import signal
import socket
import subprocess
import time

import grpc
from quorate.v1 import cluster_service_pb2 as cluster
from quorate.v1 import cluster_service_pb2_grpc as cluster_grpc
from quorate.v1 import error_pb2 as errors
from quorate.v1 import session_service_pb2_grpc as sessions_grpc
from quorate.v1 import watch_service_pb2_grpc as watches_grpc
from quorate.v1 import znode_service_pb2_grpc as znodes_grpc

CLI = os.environ['INTEROP_CLI']
WORK = os.environ['INTEROP_WORK']
TIMEOUT_S = 10


def until(seconds, ask):
    """Asks until the answer is not None; fails when it never was."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = ask()
        if answer is not None:
            return answer
        time.sleep(0.1)
    raise AssertionError(f'no answer within {seconds} s from {ask.__name__}')


def free_port_range(count):
    """A base such that base..base+count-1 were free just now."""
    for base in range(24000, 32000, count):
        try:
            held = [socket.create_server(('127.0.0.1', base + i)) for i in range(count)]
        except OSError:
            continue
        for one in held:
            one.close()
        return base
    raise AssertionError('no free range of ports')


class Member:
    """Stubs of one member."""

    def __init__(self, port):
        self.channel = grpc.insecure_channel(f'127.0.0.1:{port}')
        self.znodes = znodes_grpc.ZnodeServiceStub(self.channel)
        self.sessions = sessions_grpc.SessionServiceStub(self.channel)
        self.cluster = cluster_grpc.ClusterServiceStub(self.channel)
        self.watches = watches_grpc.WatchServiceStub(self.channel)

    def status(self):
        try:
            return self.cluster.Status(cluster.StatusRequest(), timeout=2)
        except grpc.RpcError:
            return None


def start(*arguments, environment=None):
    """Starts the command; its output goes to a file in the work folder."""
    with open(os.path.join(WORK, f'{arguments[0]}.log'), 'w', encoding='utf-8') as log:
        return subprocess.Popen(['node', CLI, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                env={**os.environ, **(environment or {})})


def stop(process):
    """Ends a process as an operator would, and says with which code it ended."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def error_of(call):
    """The gRPC error of a call that must fail, with our detail of it."""
    try:
        call()
    except grpc.RpcError as error:
        trailing = dict(error.trailing_metadata())
        return error, errors.ErrorDetail.FromString(trailing['quorate-error-bin'])
    raise AssertionError('the call did not fail')
