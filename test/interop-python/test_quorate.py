"""A Python client against each member of a local ensemble, with nothing but stubs made from the protos.

Knows the public contract alone: znodes, sessions, status, and the detail that comes with an error.
"""
import json
import os
import sys
import time
import unittest

import grpc
from members import TIMEOUT_S, WORK, Member, error_of, free_port_range, start, stop, until
from quorate.v1 import cluster_service_pb2 as cluster
from quorate.v1 import error_pb2 as errors
from quorate.v1 import session_service_pb2 as sessions
from quorate.v1 import watch_service_pb2 as watches
from quorate.v1 import znode_service_pb2 as znodes


class EnsembleTest(unittest.TestCase):
    """Three members, started by the command that people use."""

    @classmethod
    def setUpClass(cls):
        data = os.path.join(WORK, 'ensemble')
        base = free_port_range(400)
        process = start('ensemble', '--members', '3', '--data', data, '--base-port', str(base))
        cls.addClassCleanup(cls.check_end, process)

        def described():
            try:
                with open(os.path.join(data, 'ensemble.json'), encoding='utf-8') as file:
                    members = json.load(file)['members']
            except (OSError, ValueError):
                return None
            return members if len(members) == 3 else None

        cls.members = [Member(one['ports']['grpc']) for one in until(30, described)]

        def ready():
            status = [member.status() for member in cls.members]
            return status if all(one is not None and one.serving and one.has_quorum for one in status) else None

        until(30, ready)

    @classmethod
    def check_end(cls, process):
        code = stop(process)
        if code != 0:
            raise AssertionError(f'the ensemble ended with {code}')

    def each(self):
        """Every member with a path of its own for it."""
        for number, member in enumerate(self.members, start=1):
            with self.subTest(member=number):
                yield member, f'/{self._testMethodName}-{number}'

    def test_creates_and_reads_at_each_member(self):
        for member, path in self.each():
            data = bytes(range(256))
            created = member.znodes.Create(znodes.CreateRequest(path=path, data=data), timeout=TIMEOUT_S)
            self.assertEqual(created.path, path)
            self.assertEqual(created.stat.czxid, created.zxid)
            for reader in self.members:
                read = reader.znodes.GetData(znodes.GetDataRequest(path=path, linearizable=True), timeout=TIMEOUT_S)
                self.assertEqual(read.data, data)
                self.assertEqual(read.stat.czxid, created.zxid)
                self.assertEqual(read.stat.data_length, 256)

    def test_sets_under_a_condition_at_each_member(self):
        for member, path in self.each():
            member.znodes.Create(znodes.CreateRequest(path=path, data=b'0'), timeout=TIMEOUT_S)
            changed = member.znodes.SetData(
                znodes.SetDataRequest(path=path, data=b'1', expected_version=0), timeout=TIMEOUT_S)
            self.assertEqual(changed.stat.version, 1)
            error, detail = error_of(lambda: member.znodes.SetData(
                znodes.SetDataRequest(path=path, data=b'2', expected_version=0), timeout=TIMEOUT_S))
            self.assertEqual(error.code(), grpc.StatusCode.ABORTED)
            self.assertEqual(detail.code, errors.ERROR_CODE_BAD_VERSION)
            self.assertEqual(detail.zookeeper_code, -103)
            self.assertEqual(detail.path, path)
            self.assertEqual(detail.outcome, errors.OUTCOME_NOT_APPLIED)
            read = member.znodes.GetData(znodes.GetDataRequest(path=path), timeout=TIMEOUT_S)
            self.assertEqual((read.data, read.stat.version), (b'1', 1))

    def test_null_and_empty_data_are_told_apart(self):
        for member, path in self.each():
            member.znodes.Create(znodes.CreateRequest(path=path), timeout=TIMEOUT_S)
            self.assertFalse(member.znodes.GetData(znodes.GetDataRequest(path=path), timeout=TIMEOUT_S).HasField('data'))
            member.znodes.SetData(znodes.SetDataRequest(path=path, data=b''), timeout=TIMEOUT_S)
            self.assertTrue(member.znodes.GetData(znodes.GetDataRequest(path=path), timeout=TIMEOUT_S).HasField('data'))

    def test_lists_deletes_and_says_what_is_missing(self):
        for member, path in self.each():
            member.znodes.Create(znodes.CreateRequest(path=path), timeout=TIMEOUT_S)
            made = [member.znodes.Create(znodes.CreateRequest(path=f'{path}/s-', sequential=True), timeout=TIMEOUT_S).path
                    for _ in range(3)]
            self.assertEqual(made, [f'{path}/s-{n:010d}' for n in range(3)])
            listed = member.znodes.GetChildren(znodes.GetChildrenRequest(path=path), timeout=TIMEOUT_S)
            self.assertEqual([f'{path}/{name}' for name in listed.children], made)
            error, detail = error_of(lambda: member.znodes.Delete(znodes.DeleteRequest(path=path), timeout=TIMEOUT_S))
            self.assertEqual(detail.code, errors.ERROR_CODE_NOT_EMPTY)
            for one in [*made, path]:
                member.znodes.Delete(znodes.DeleteRequest(path=one), timeout=TIMEOUT_S)
            error, detail = error_of(lambda: member.znodes.GetData(znodes.GetDataRequest(path=path), timeout=TIMEOUT_S))
            self.assertEqual(error.code(), grpc.StatusCode.NOT_FOUND)
            self.assertEqual((detail.code, detail.zookeeper_code), (errors.ERROR_CODE_NO_NODE, -101))
            there = member.znodes.Exists(znodes.ExistsRequest(path=path), timeout=TIMEOUT_S)
            self.assertFalse(there.HasField('stat'))

    def test_a_sync_shows_the_writes_of_others_at_each_member(self):
        for member, path in self.each():
            for writer in self.members:
                name = f'{path}-{self.members.index(writer)}'
                written = writer.znodes.Create(znodes.CreateRequest(path=name), timeout=TIMEOUT_S)
                synced = member.znodes.Sync(znodes.SyncRequest(path=name), timeout=TIMEOUT_S)
                self.assertGreaterEqual(synced.zxid, written.zxid)
                there = member.znodes.Exists(znodes.ExistsRequest(path=name), timeout=TIMEOUT_S)
                self.assertEqual(there.stat.czxid, written.zxid)

    def test_bad_input_gets_the_right_code_and_the_connection_stays_usable(self):
        for member, path in self.each():
            bad = ['', 'no/slash', '/a//b', '/a/', '/a/./b', '/a/../b', '/nul\x00']
            for one in bad:
                error, detail = error_of(lambda: member.znodes.Create(znodes.CreateRequest(path=one), timeout=TIMEOUT_S))
                self.assertEqual((one, error.code()), (one, grpc.StatusCode.INVALID_ARGUMENT))
                self.assertEqual(detail.code, errors.ERROR_CODE_INVALID_ARGUMENT)
            member.znodes.Create(znodes.CreateRequest(path=path), timeout=TIMEOUT_S)

    def test_c013_session_ids_and_zxids_are_exact_at_each_member(self):
        for member, path in self.each():
            opened = member.sessions.Open(sessions.OpenRequest(session_timeout_ms=10000), timeout=TIMEOUT_S)
            session = opened.session
            self.assertGreater(session.id, 2 ** 53)
            created = member.znodes.Create(
                znodes.CreateRequest(path=path, mode=znodes.CREATE_MODE_EPHEMERAL, session=session), timeout=TIMEOUT_S)
            self.assertEqual(created.stat.ephemeral_owner, session.id)
            self.assertGreater(created.zxid >> 32, 0)
            second = member.znodes.Create(
                znodes.CreateRequest(path=f'{path}-second', mode=znodes.CREATE_MODE_EPHEMERAL, session=session),
                timeout=TIMEOUT_S)
            self.assertEqual(second.zxid, created.zxid + 1)
            for reader in self.members:
                read = reader.znodes.Exists(znodes.ExistsRequest(path=path, linearizable=True), timeout=TIMEOUT_S)
                self.assertEqual((read.stat.ephemeral_owner, read.stat.czxid), (session.id, created.zxid))
            alive = member.sessions.KeepAlive(sessions.KeepAliveRequest(session=session), timeout=TIMEOUT_S)
            self.assertEqual(alive.session_timeout_ms, 10000)
            wrong = znodes.SessionReference(id=session.id + 1, token=session.token)
            error, detail = error_of(
                lambda: member.sessions.KeepAlive(sessions.KeepAliveRequest(session=wrong), timeout=TIMEOUT_S))
            self.assertEqual(detail.code, errors.ERROR_CODE_SESSION_EXPIRED)
            member.sessions.Close(sessions.CloseRequest(session=session), timeout=TIMEOUT_S)
            gone = member.znodes.Exists(znodes.ExistsRequest(path=path, linearizable=True), timeout=TIMEOUT_S)
            self.assertFalse(gone.HasField('stat'))

    def test_an_ephemeral_lives_as_long_as_its_session_is_kept_alive_at_any_member(self):
        opened = self.members[0].sessions.Open(sessions.OpenRequest(session_timeout_ms=4000), timeout=TIMEOUT_S)
        session, timeout_s = opened.session, opened.session_timeout_ms / 1000
        path = '/kept-alive'
        created = self.members[0].znodes.Create(
            znodes.CreateRequest(path=path, mode=znodes.CREATE_MODE_EPHEMERAL, session=session), timeout=TIMEOUT_S)
        watch = self.members[1].watches.Watch(
            watches.WatchRequest(path=path, from_zxid=created.zxid - 1), timeout=4 * timeout_s + TIMEOUT_S)
        begun = time.monotonic()
        beats = 0

        def twice_its_timeout_has_passed():
            nonlocal beats
            member = self.members[beats % len(self.members)]
            member.sessions.KeepAlive(sessions.KeepAliveRequest(session=session), timeout=TIMEOUT_S)
            beats += 1
            return True if time.monotonic() > begun + 2 * timeout_s else None

        until(3 * timeout_s, twice_its_timeout_has_passed)
        there = self.members[2].znodes.Exists(znodes.ExistsRequest(path=path, linearizable=True), timeout=TIMEOUT_S)
        self.assertEqual(there.stat.ephemeral_owner, session.id)
        silent = time.monotonic()
        deleted = next(event for response in watch for event in response.events
                       if event.kind == watches.WATCH_EVENT_KIND_DELETED)
        lived = time.monotonic() - silent
        watch.cancel()
        self.assertGreater(lived, timeout_s / 2)
        self.assertEqual(deleted.path, path)
        error, detail = error_of(lambda: self.members[0].sessions.KeepAlive(
            sessions.KeepAliveRequest(session=session), timeout=TIMEOUT_S))
        self.assertEqual(detail.code, errors.ERROR_CODE_SESSION_EXPIRED)
        gone = self.members[0].znodes.Exists(znodes.ExistsRequest(path=path, linearizable=True), timeout=TIMEOUT_S)
        self.assertFalse(gone.HasField('stat'))

    def test_c007_a_transaction_takes_effect_as_a_whole_or_not_at_all(self):
        part = znodes.MultiPart
        for member, path in self.each():
            lock = member.znodes.Create(znodes.CreateRequest(path=f'{path}-lock'), timeout=TIMEOUT_S)
            guard = znodes.Guard(path=lock.path, czxid=lock.stat.czxid)
            parts = [part(create=znodes.CreateRequest(path=path, data=b'one')),
                     part(create=znodes.CreateRequest(path=f'{path}/s-', sequential=True)),
                     part(create=znodes.CreateRequest(path=f'{path}/s-', sequential=True)),
                     part(set_data=znodes.SetDataRequest(path=path, data=b'two', expected_version=0)),
                     part(check=znodes.CheckRequest(path=path, expected_version=1))]
            done = member.znodes.Multi(znodes.MultiRequest(parts=parts, guards=[guard]), timeout=TIMEOUT_S)
            self.assertEqual([one.WhichOneof('result') for one in done.results],
                             ['create', 'create', 'create', 'set_data', 'check'])
            self.assertEqual([one.create.path for one in done.results[1:3]], [f'{path}/s-{n:010d}' for n in range(2)])
            self.assertEqual((done.results[0].create.stat.version, done.results[3].set_data.stat.version), (0, 1))
            for reader in self.members:
                read = reader.znodes.GetData(znodes.GetDataRequest(path=path, linearizable=True), timeout=TIMEOUT_S)
                self.assertEqual((read.data, read.stat.czxid, read.stat.mzxid), (b'two', done.zxid, done.zxid))
            failing = [part(set_data=znodes.SetDataRequest(path=path, data=b'three')),
                       part(delete=znodes.DeleteRequest(path=f'{path}/s-0000000000')),
                       part(check=znodes.CheckRequest(path=path, expected_version=7)),
                       part(create=znodes.CreateRequest(path=f'{path}/after'))]
            _, detail = error_of(lambda: member.znodes.Multi(znodes.MultiRequest(parts=failing), timeout=TIMEOUT_S))
            self.assertEqual((detail.code, detail.part, detail.path), (errors.ERROR_CODE_BAD_VERSION, 2, path))
            member.znodes.Delete(znodes.DeleteRequest(path=lock.path), timeout=TIMEOUT_S)
            stale = znodes.MultiRequest(parts=failing[:2], guards=[guard])
            error, detail = error_of(lambda: member.znodes.Multi(stale, timeout=TIMEOUT_S))
            self.assertEqual((error.code(), detail.code), (grpc.StatusCode.FAILED_PRECONDITION, errors.ERROR_CODE_GUARD_FAILED))
            read = member.znodes.GetData(znodes.GetDataRequest(path=path), timeout=TIMEOUT_S)
            self.assertEqual((read.data, read.stat.version, read.stat.num_children), (b'two', 1, 2))

    def test_a_watch_goes_on_at_the_next_member_from_where_it_was(self):
        path = '/watched'
        kinds = watches.WatchEventKind.Name
        self.members[0].znodes.Create(znodes.CreateRequest(path=path, data=b'0'), timeout=TIMEOUT_S)
        told = []
        position = None
        for number, member in enumerate(self.members, start=1):
            # What happens while nobody watches must not be missed.
            self.members[0].znodes.Create(
                znodes.CreateRequest(path=f'{path}/{number}', data=bytes([number])), timeout=TIMEOUT_S)
            member.znodes.Sync(znodes.SyncRequest(path=path), timeout=TIMEOUT_S)
            request = watches.WatchRequest(path=path, recursive=True, with_values=True, from_zxid=position)
            stream = member.watches.Watch(request, timeout=TIMEOUT_S)
            changed = self.members[0].znodes.SetData(
                znodes.SetDataRequest(path=path, data=bytes([number])), timeout=TIMEOUT_S)
            for response in stream:
                told += [(kinds(event.kind)[len('WATCH_EVENT_KIND_'):], event.path, event.zxid, event.data)
                         for event in response.events]
                position = response.zxid
                if position >= changed.zxid:
                    break
            stream.cancel()
        ready = [one for one in told if one[0] == 'READY']
        self.assertEqual(len(ready), 3)
        changes = [one for one in told if one[0] != 'READY' and one[0] != 'CURRENT']
        self.assertEqual([one[:2] for one in changes if one[1] != path], [('CREATED', f'{path}/2'), ('CREATED', f'{path}/3')])
        self.assertEqual([one[3] for one in changes if one[1] == path], [b'\x01', b'\x02', b'\x03'])
        zxids = [one[2] for one in changes]
        self.assertEqual(zxids, sorted(set(zxids)))
        self.assertEqual([one[:2] for one in told][:2], [('CURRENT', path), ('CURRENT', f'{path}/1')])

    def test_a_watch_that_cannot_be_says_why(self):
        for member, path in self.each():
            error, detail = error_of(
                lambda: next(member.watches.Watch(watches.WatchRequest(path='no/slash'), timeout=TIMEOUT_S)))
            self.assertEqual((error.code(), detail.code),
                             (grpc.StatusCode.INVALID_ARGUMENT, errors.ERROR_CODE_INVALID_ARGUMENT))
            ahead = watches.WatchRequest(path=path, from_zxid=2 ** 62)
            error, detail = error_of(lambda: next(member.watches.Watch(ahead, timeout=TIMEOUT_S)))
            self.assertEqual(detail.code, errors.ERROR_CODE_SERVER_BEHIND)

    def pages(self, member, path, change, **wish):
        """All pages of the children; `change` is called before each page but the first."""
        request = znodes.ListChildrenRequest(path=path, linearizable=True, **wish)
        answered = [member.znodes.ListChildren(request, timeout=TIMEOUT_S)]
        while answered[-1].next_page_token:
            change(len(answered))
            request = znodes.ListChildrenRequest(path=path, limit=wish['limit'], page_token=answered[-1].next_page_token)
            answered.append(member.znodes.ListChildren(request, timeout=TIMEOUT_S))
        return answered

    def test_lists_children_in_pages_at_one_position_at_each_member(self):
        for member, path in self.each():
            member.znodes.Create(znodes.CreateRequest(path=path), timeout=TIMEOUT_S)
            names = [f'n{number:03}' for number in range(25)]
            for name in reversed(names):
                member.znodes.Create(znodes.CreateRequest(path=f'{path}/{name}', data=name.encode()), timeout=TIMEOUT_S)

            def change(page):
                member.znodes.Delete(znodes.DeleteRequest(path=f'{path}/n{page * 10 + 1:03}'), timeout=TIMEOUT_S)
                member.znodes.Create(znodes.CreateRequest(path=f'{path}/n{page * 10 + 1:03}a'), timeout=TIMEOUT_S)

            answered = self.pages(member, path, change, limit=10, with_data=True)
            self.assertEqual([len(one.children) for one in answered], [10, 10, 5])
            listed = [child for one in answered for child in one.children]
            self.assertEqual([child.name for child in listed], names)
            self.assertEqual([child.data for child in listed], [name.encode() for name in names])
            self.assertEqual(len({one.listing_zxid for one in answered}), 1)
            self.assertLess(answered[0].listing_zxid, answered[-1].zxid)
            self.assertEqual([one.HasField('stat') for one in answered], [True, False, False])
            self.assertEqual(answered[0].stat.num_children, 25)
            whole = member.znodes.GetSubtree(znodes.GetSubtreeRequest(path=path, max_depth=1), timeout=TIMEOUT_S)
            self.assertEqual([one.name for one in whole.znodes][:2], [path, f'{path}/n000'])
            self.assertEqual(len(whole.znodes), 26)
            request = znodes.StreamSubtreeRequest(list=znodes.GetSubtreeRequest(path=path, limit=10))
            streamed = [one for part in member.znodes.StreamSubtree(request, timeout=TIMEOUT_S) for one in part.page.znodes]
            self.assertEqual([one.name for one in streamed], [one.name for one in whole.znodes])
            gone = znodes.ListChildrenRequest(path=path, page_token=answered[0].next_page_token)
            error, detail = error_of(lambda: member.znodes.ListChildren(gone, timeout=TIMEOUT_S))
            self.assertEqual((error.code(), detail.code), (grpc.StatusCode.ABORTED, errors.ERROR_CODE_GAP))

    def test_every_member_tells_the_same_of_the_ensemble(self):
        status = [member.status() for member in self.members]
        self.assertEqual([one.sid for one in status], [1, 2, 3])
        self.assertEqual(len({one.leader_sid for one in status}), 1)
        roles = sorted(one.role for one in status)
        self.assertEqual(roles, [cluster.ROLE_FOLLOWING, cluster.ROLE_FOLLOWING, cluster.ROLE_LEADING])


class HighSidTest(unittest.TestCase):
    """One member whose sid makes session ids negative as signed numbers."""

    def test_c013_session_ids_that_are_negative_as_signed_are_exact(self):
        port = free_port_range(4)
        environment = {'QUORATE_DATA_DIR': os.path.join(WORK, 'high'), 'QUORATE_SID': '254', 'QUORATE_BIND': '127.0.0.1',
                       'QUORATE_GRPC_PORT': str(port), 'QUORATE_ADMIN_PORT': str(port + 1), 'QUORATE_ZOOKEEPER_PORT': '0'}
        process = start('serve', environment=environment)
        try:
            member = Member(port)

            def ready():
                status = member.status()
                return status if status is not None and status.has_quorum else None

            until(30, ready)
            session = member.sessions.Open(sessions.OpenRequest(session_timeout_ms=10000), timeout=TIMEOUT_S).session
            self.assertGreaterEqual(session.id, 2 ** 63)
            member.znodes.Create(
                znodes.CreateRequest(path='/high', mode=znodes.CREATE_MODE_EPHEMERAL, session=session), timeout=TIMEOUT_S)
            read = member.znodes.Exists(znodes.ExistsRequest(path='/high'), timeout=TIMEOUT_S)
            self.assertEqual(read.stat.ephemeral_owner, session.id)
        finally:
            code = stop(process)
        self.assertEqual(code, 0)


if __name__ == '__main__':
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    bad = len(result.failures) + len(result.errors)
    for name in sorted(os.listdir(WORK)) if bad else []:
        if name.endswith('.log'):
            with open(os.path.join(WORK, name), encoding='utf-8') as file:
                print(f'--- {name}', *file.read().splitlines()[-20:], sep='\n')
    print(f'python: {max(0, result.testsRun - bad)} passed, {bad} failed')
    sys.exit(0 if bad == 0 and result.testsRun > 0 else 1)
