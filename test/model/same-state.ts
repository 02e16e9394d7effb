/** Holds all that can be seen of a tree against the model, field by field. */
import { decodeAnswer, formatSessionId, OPEN_ACL } from '@quorate/protocol';
import { expect } from 'vitest';
import type { DataTree } from '../../packages/core/src/tree/data-tree.ts';
import type { Results } from '../../packages/core/src/tree/results.ts';
import { bareAnswer, type ReferenceModel } from './reference.ts';

export function expectSameState(tree: DataTree, model: ReferenceModel): void {
  const paths = model.paths();
  const seen = paths.map((path) => {
    const znode = tree.znode(path);
    const more = { creates: znode?.creates, lifetime: znode?.lifetime, acl: znode?.acl ?? OPEN_ACL };
    return { path, stat: tree.stat(path), data: tree.data(path), children: tree.children(path), ...more };
  });
  const expected = paths.map((path) => {
    const { data, creates, lifetime, acl } = model.existing(path);
    return { path, stat: model.stat(path), data, children: model.childNames(path), creates, lifetime, acl };
  });
  expect(seen).toEqual(expected);
  expect(tree.znodeCount).toBe(paths.length);
  expect(tree.dataBytes).toBe(expected.reduce((sum, { data }) => sum + (data?.length ?? 0), 0));
  const ids = tree.sessions.ids();
  expect(new Set(ids)).toEqual(new Set(model.sessions.keys()));
  let ephemerals = 0;
  for (const id of ids) {
    const session = tree.sessions.get(id)!;
    const { timeoutMs, token, last, results } = model.sessions.get(id)!;
    expect(session).toMatchObject({ id, timeoutMs, token });
    expect(keptOf(session.results, last)).toEqual(
      [...results].map(([request, answer]) => ({ request, ...bareAnswer(answer) })),
    );
    expect(session.results).toMatchObject({ last, size: results.size });
    expect([...session.ephemerals].sort(), formatSessionId(id)).toEqual(model.ephemerals(id));
    ephemerals += session.ephemerals.size;
  }
  expect(tree.ephemeralCount).toBe(ephemerals);
}

/** What is kept of a session's numbered writes. */
function keptOf(results: Results, last: number): object[] {
  const numbers = Array.from({ length: last + 2 }, (_, request) => request);
  return numbers.flatMap((request) => {
    const bytes = results.get(request);
    return bytes === undefined ? [] : [{ request, ...bareAnswer(decodeAnswer(bytes)) }];
  });
}
