/** Random requests of one sequence: the same bytes for both servers, save what names a session. All of them below one path of their own. */
import type { Acl } from '@quorate/protocol';
import { ByteWriter } from '@quorate/protocol';
import { OP_CODE } from '@quorate/protocol/jute';
import {
  authBody,
  bytes,
  createBody,
  createTtlBody,
  multiBody,
  OPEN,
  pathBody,
  setAclBody,
  setDataBody,
  versionBody,
  watchBody,
} from '../compat/bodies.ts';

export type Random = (below: number) => number;

/** Mulberry32, as whole numbers below a bound. */
export function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Kinds of watches, and two that are none. */
const REMOVALS = [0, 1, 2, 3, 3, 4, 5, 6];

export interface Request {
  readonly what: string;
  readonly type: number;
  readonly body: Uint8Array;
}

/** What a request is drawn from: the path of the sequence, and zxids that differ between the servers. */
export class RequestMaker {
  readonly #random: Random;
  readonly #root: string;

  constructor(random: Random, root: string) {
    this.#random = random;
    this.#root = root;
  }

  /** The body of the create of the path that all others are below. */
  root(): Uint8Array {
    return createBody(this.#root);
  }

  next(): Request {
    const makers: readonly (() => Request)[] = [
      () => this.#create(),
      () => this.#create(),
      () => this.#create(),
      () => this.#named('delete', OP_CODE.delete, versionBody, this.#version()),
      () => this.#named('delete', OP_CODE.delete, versionBody, -1),
      () => this.#setData(),
      () => this.#setData(),
      () => this.#read('exists', OP_CODE.exists),
      () => this.#read('getData', OP_CODE.getData),
      () => this.#read('getChildren', OP_CODE.getChildren),
      () => this.#read('getChildren2', OP_CODE.getChildren2),
      () => this.#plain('getAcl', OP_CODE.getAcl),
      () => this.#setAcl(),
      () => this.#plain('getAllChildrenNumber', OP_CODE.getAllChildrenNumber),
      () => this.#plain('getEphemerals', OP_CODE.getEphemerals),
      () => this.#plain('sync', OP_CODE.sync),
      () => this.#multi(),
      () => this.#multi(),
      () => this.#multiRead(),
      () => this.#named('addWatch', OP_CODE.addWatch, versionBody, this.#below(3)),
      () => this.#named('removeWatches', OP_CODE.removeWatches, versionBody, this.#one(REMOVALS)),
      () => this.#named('checkWatches', OP_CODE.checkWatches, versionBody, this.#one(REMOVALS)),
      () => this.#setWatches(),
      () => ({ what: 'whoAmI', type: OP_CODE.whoAmI, body: new Uint8Array(0) }),
      () => ({ what: 'auth', type: OP_CODE.auth, body: authBody('digest', this.#one(['a:1', 'b:2', 'nocolon'])) }),
      () => this.#broken(),
    ];
    return this.#one(makers)();
  }

  #create(): Request {
    const type = this.#one([
      OP_CODE.create,
      OP_CODE.create,
      OP_CODE.create,
      OP_CODE.create2,
      OP_CODE.createContainer,
      OP_CODE.createTtl,
    ]);
    const path = this.#path();
    if (type === OP_CODE.createTtl) {
      // Flags of no TTL with a negative one end a ZooKeeper: it takes the request, and cannot apply the txn.
      const flags = this.#one([5, 6, 5, 6, 0]);
      const ttl = this.#one([100_000n, 1n << 40n, 0n, flags === 0 ? 1n : -1n, 5_000_000n]);
      return { what: `createTtl ${path} ${flags} ${ttl}`, type, body: createTtlBody(path, flags, ttl) };
    }
    const flags = type === OP_CODE.createContainer ? 4 : this.#one([0, 0, 0, 1, 1, 2, 3, 2, 7]);
    const acl = this.#below(5) === 0 ? this.#acl() : OPEN;
    return { what: `create(${type}) ${path} ${flags}`, type, body: createBody(path, this.#data(), flags, acl) };
  }

  #setData(): Request {
    const [path, version] = [this.#path(), this.#version()];
    return {
      what: `setData ${path} ${version}`,
      type: OP_CODE.setData,
      body: setDataBody(path, this.#data(), version),
    };
  }

  #setAcl(): Request {
    const path = this.#path();
    return {
      what: `setAcl ${path}`,
      type: OP_CODE.setAcl,
      body: setAclBody(path, this.#acl(), this.#one([-1, -1, 0, 1])),
    };
  }

  #read(what: string, type: number): Request {
    const [path, watch] = [this.#path(), this.#below(2) === 0];
    return { what: `${what} ${path}${watch ? ' w' : ''}`, type, body: watchBody(path, watch) };
  }

  #plain(what: string, type: number): Request {
    const path = this.#path();
    return { what: `${what} ${path}`, type, body: pathBody(path) };
  }

  #named(what: string, type: number, body: (path: string, number: number) => Uint8Array, number: number): Request {
    const path = this.#path();
    return { what: `${what} ${path} ${number}`, type, body: body(path, number) };
  }

  #multi(): Request {
    const parts: { type: number; body: Uint8Array }[] = [];
    const said: string[] = [];
    for (let left = this.#below(5); left > 0; left--) {
      const path = this.#path();
      const part = this.#one<() => { type: number; body: Uint8Array }>([
        () => ({ type: OP_CODE.create, body: createBody(path, this.#data(), this.#one([0, 0, 1, 2])) }),
        () => ({ type: OP_CODE.create2, body: createBody(path, this.#data(), this.#one([0, 2, 3])) }),
        () => ({ type: OP_CODE.delete, body: versionBody(path, this.#version()) }),
        () => ({ type: OP_CODE.setData, body: setDataBody(path, this.#data(), this.#version()) }),
        () => ({ type: OP_CODE.check, body: versionBody(path, this.#version()) }),
      ])();
      said.push(`${part.type} ${path}`);
      parts.push(part);
    }
    return { what: `multi [${said.join(', ')}]`, type: OP_CODE.multi, body: multiBody(parts) };
  }

  #multiRead(): Request {
    const parts = Array.from({ length: this.#below(4) }, () => {
      const type = this.#one([OP_CODE.getData, OP_CODE.getChildren]);
      return { type, body: watchBody(this.#path(), true) };
    });
    return { what: `multiRead of ${parts.length}`, type: OP_CODE.multiRead, body: multiBody(parts) };
  }

  /** From the beginning of the history: what differs between the servers is not named. */
  #setWatches(): Request {
    const lists = Array.from({ length: 5 }, () => Array.from({ length: this.#below(3) }, () => this.#path()));
    const isSecond = this.#below(2) === 0;
    const writer = new ByteWriter().u64(this.#one([0n, 0x7fff_ffff_ffff_ffffn]));
    for (const list of isSecond ? lists : lists.slice(0, 3)) {
      writer.i32(list.length);
      for (const path of list) writer.string(path);
    }
    const what = `setWatches ${JSON.stringify(lists)}`;
    return { what, type: isSecond ? OP_CODE.setWatches2 : OP_CODE.setWatches, body: writer.finish() };
  }

  #broken(): Request {
    const type = this.#one([
      OP_CODE.create,
      OP_CODE.setData,
      OP_CODE.getData,
      OP_CODE.multi,
      OP_CODE.setAcl,
      OP_CODE.delete,
    ]);
    return { what: `broken(${type})`, type, body: bytes('').slice(0, 0) };
  }

  #path(): string {
    const name = this.#one(['a', 'b', 'c', 'a/x', 'a/y', 'b/x', 'a/x/z', 'q-', 'a/q-', '']);
    return name === '' ? this.#root : `${this.#root}/${name}`;
  }

  #acl(): Acl {
    return this.#one<Acl>([
      OPEN,
      [{ perms: 31, scheme: 'auth', id: '' }],
      [{ perms: 31, scheme: 'digest', id: 'a:J9YhO1AyPrnVTqQDQPSVCVjhFVE=' }],
      [{ perms: 1, scheme: 'world', id: 'anyone' }],
      [{ perms: 30, scheme: 'world', id: 'anyone' }],
      [{ perms: 31, scheme: 'ip', id: '127.0.0.1/8' }],
      [{ perms: 31, scheme: 'ip', id: 'nonsense' }],
      [{ perms: 31, scheme: 'world', id: 'somebody' }],
      [{ perms: 31, scheme: 'nobody', id: 'x' }],
      [],
    ]);
  }

  #data(): Uint8Array | undefined {
    return this.#one([undefined, bytes(''), bytes('x'), bytes('longer data')]);
  }

  #version(): number {
    return this.#one([-1, -1, 0, 0, 1, 2]);
  }

  #below(limit: number): number {
    return this.#random(limit);
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#random(list.length)] as T;
  }
}
