import { NO_SESSION, type ReadOp, toSessionId } from '@quorate/protocol';
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
