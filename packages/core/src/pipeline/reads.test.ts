import {
  ByteWriter,
  FRAME_BYTES_MAX,
  type Identity,
  NO_SESSION,
  type ReadOp,
  type ReadPart,
  toSessionId,
} from '@quorate/protocol';
import { writeReply } from '@quorate/protocol/frames';
import { describe, expect, it } from 'vitest';
import { StateDisk, TreeScript } from '../tree/tree-script.fixture.ts';
import { readAnswer } from './reads.ts';

const A = toSessionId(1n);
const B = toSessionId(2n);

function script(): TreeScript {
  const made = new TreeScript();
  made.createSession(A);
  made.createSession(B);
  for (const path of ['/a', '/a/b', '/a/b/c', '/ab', '/a/d']) made.create(path);
  for (const path of ['/a/z', '/a/y', '/ab/x']) made.create(path, undefined, A);
  made.create('/a/other', undefined, B);
  return made;
}

describe('getEphemerals', () => {
  const ask = (made: TreeScript, path: string, session = A) =>
    readAnswer(made.tree, { kind: 'getEphemerals', path }, session, []);

  it("lists the caller's own, in order, at the position it was answered at", () => {
    const made = script();
    const wanted = { kind: 'getEphemerals', paths: ['/a/y', '/a/z', '/ab/x'] };
    for (const all of ['', '/']) expect(ask(made, all)).toEqual({ zxid: made.tree.lastZxid, result: wanted });
    expect(ask(made, '/', B).result).toMatchObject({ paths: ['/a/other'] });
    made.delete('/a/y');
    expect(ask(made, '/').result).toMatchObject({ paths: ['/a/z', '/ab/x'] });
  });

  it('takes the prefix as characters, not as a path', () => {
    const made = script();
    expect(ask(made, '/a').result).toMatchObject({ paths: ['/a/y', '/a/z', '/ab/x'] });
    expect(ask(made, '/a/').result).toMatchObject({ paths: ['/a/y', '/a/z'] });
    expect(ask(made, '/none').result).toMatchObject({ paths: [] });
  });
});

describe('multiRead', () => {
  const ask = (made: TreeScript, parts: readonly ReadPart[], identities: readonly Identity[] = []) =>
    readAnswer(made.tree, { kind: 'multiRead', parts }, NO_SESSION, identities);

  it('answers each read by itself, all at one position', () => {
    const made = script();
    made.create('/d', new Uint8Array([7]));
    const parts = [
      { kind: 'getData', path: '/d' },
      { kind: 'getData', path: '/none' },
      { kind: 'exists', path: '/none' },
      { kind: 'exists', path: '/a' },
      { kind: 'getChildren', path: '/ab' },
      { kind: 'getChildren', path: 'ab' },
    ] as const;
    const { zxid, result } = ask(made, parts);
    expect(zxid).toBe(made.tree.lastZxid);
    expect(result).toMatchObject({
      kind: 'multiRead',
      results: [
        { kind: 'getData', data: new Uint8Array([7]), stat: { dataLength: 1 } },
        { kind: 'error', code: 'NO_NODE', path: '/none' },
        { kind: 'error', code: 'NO_NODE', path: '/none' },
        { kind: 'exists', stat: { numChildren: 4 + 1 } },
        { kind: 'getChildren', children: ['x'] },
        { kind: 'error', code: 'INVALID_ARGUMENT' },
      ],
    });
    expect(ask(made, []).result).toEqual({ kind: 'multiRead', results: [] });
  });

  it('asks for the right to read each', () => {
    const made = script();
    const acl = [{ perms: 1, scheme: 'digest', id: 'alice:x' }];
    made.apply({ kind: 'setAcl', path: '/ab', acl, version: 1 });
    const parts = [
      { kind: 'exists', path: '/ab' },
      { kind: 'exists', path: '/a' },
    ] as const;
    const said = (identities: readonly Identity[]) => {
      const { result } = ask(made, parts, identities);
      return result.kind === 'multiRead' ? result.results.map((one) => ('code' in one ? one.code : one.kind)) : [];
    };
    expect(said([])).toEqual(['NO_AUTH', 'exists']);
    expect(said([{ scheme: 'digest', id: 'alice:x' }])).toEqual(['exists', 'exists']);
  });

  it('is refused as a whole when what it reads is more than a frame holds, and the reply to the most fits one', () => {
    const made = script();
    made.create('/big', new Uint8Array(1_000_000));
    made.create('/long');
    for (let i = 0; i < 20; i++) made.create(`/long/${i}${'é'.repeat(30_000)}`);
    const big = { kind: 'getData', path: '/big' } as const;
    const long = { kind: 'getChildren', path: '/long' } as const;
    const length = (parts: readonly ReadPart[]) => {
      const answer = ask(made, parts);
      if (answer.result.kind === 'error') return answer.result.code;
      const writer = new ByteWriter();
      writeReply(writer, 0xffff_ffff, 'multiRead', answer);
      return writer.length;
    };
    expect(length([big, big, big, big])).toBeLessThanOrEqual(FRAME_BYTES_MAX);
    expect(length([big, big, big, big, big])).toBe('INVALID_ARGUMENT');
    expect(length([long, long, long])).toBeLessThanOrEqual(FRAME_BYTES_MAX);
    expect(length([long, long, long, long])).toBe('INVALID_ARGUMENT');
    const many = Array.from({ length: 8_192 }, () => ({ kind: 'exists', path: '/a' }) as const);
    expect(length(many)).toBeLessThanOrEqual(FRAME_BYTES_MAX);
  });
});

describe('getAllChildrenNumber', () => {
  const count = (made: TreeScript, path: string) => {
    const op: ReadOp = { kind: 'getAllChildrenNumber', path };
    const { result } = readAnswer(made.tree, op, NO_SESSION, []);
    return result.kind === 'getAllChildrenNumber' ? result.total : result.kind === 'error' && result.code;
  };

  it('counts what is below at any depth, the built-in znodes under / too', () => {
    const made = script();
    expect(count(new TreeScript(), '/')).toBe(3);
    const wanted = [
      ['/', 12],
      ['/a', 6],
      ['/a/b', 1],
      ['/a/b/c', 0],
      ['/ab', 1],
      ['/zookeeper', 2],
      ['/none', 'NO_NODE'],
    ];
    expect(wanted.map(([path]) => [path, count(made, String(path))])).toEqual(wanted);
  });

  it('goes with creates, deletes and the end of sessions, and is the same after a load', () => {
    const made = script();
    made.delete('/a/b/c');
    made.closeSession(A);
    expect([count(made, '/'), count(made, '/a'), count(made, '/ab')]).toEqual([8, 3, 0]);
    const disk = new StateDisk();
    disk.save(made.tree);
    const loaded = new TreeScript(disk.load());
    expect([count(loaded, '/'), count(loaded, '/a'), count(loaded, '/ab')]).toEqual([8, 3, 0]);
  });
});
