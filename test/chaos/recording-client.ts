/** A client whose calls are recorded: a session over @quorate/client, or unary calls over plain gRPC. */

import { credentials, Client as GrpcClient, type ServiceError } from '@grpc/grpc-js';
import {
  type Client,
  type ConnectOptions,
  CoordinationError,
  connect,
  type ErrorCode,
  type Stat,
  type Znode,
} from '@quorate/client';
import { loadProtos, serviceOf, ZNODE_SERVICE } from '@quorate/protocol/grpc';
import type { History } from './history.ts';

export interface CallChoice {
  readonly linearizable?: boolean;
  readonly expected?: number;
}

/** Longest wait for an answer: longer than most faults, so that calls live through them. */
const TIMEOUT_MS = 6_000;

/** What workloads do; every call resolves with undefined when it did not succeed. */
export interface Recording {
  readonly name: string;
  get(path: string, choice?: CallChoice): Promise<{ version: number; value: string } | undefined>;
  set(path: string, value: string, choice?: CallChoice): Promise<number | undefined>;
  close(): Promise<void>;
}

export class RecordingClient implements Recording {
  readonly name: string;
  readonly raw: Client;
  readonly #history: History;

  private constructor(name: string, raw: Client, history: History) {
    this.name = name;
    this.raw = raw;
    this.#history = history;
  }

  static async connect(
    name: string,
    addresses: readonly string[],
    history: History,
    options: ConnectOptions = {},
  ): Promise<RecordingClient> {
    const raw = await connect(addresses, {
      ...{ sessionTimeoutMs: 3_000, timeoutMs: 30_000, retry: { baseMs: 50, maxMs: 500 } },
      ...options,
    });
    return new RecordingClient(name, raw, history);
  }

  readonly #session = (): bigint => this.raw.session.id;

  async get(path: string, { linearizable = false }: CallChoice = {}) {
    const consistency = linearizable ? 'linearizable' : 'session';
    const znode = await this.#history.record(
      { client: this.name, kind: 'get', path, linearizable },
      this.#session,
      () => this.raw.get(path, { consistency, timeoutMs: TIMEOUT_MS }),
      (read) => ({ version: read.stat.version, zxid: read.stat.mzxid, seen: read.text() }),
    );
    return znode && { version: znode.stat.version, value: znode.text() };
  }

  async set(path: string, value: string, { expected }: CallChoice = {}): Promise<number | undefined> {
    const stat = await this.#history.record(
      { client: this.name, kind: 'set', path, value, expected },
      this.#session,
      () => this.raw.set(path, value, { version: expected, timeoutMs: TIMEOUT_MS }),
      ({ version, mzxid }) => ({ version, zxid: mzxid }),
    );
    return stat?.version;
  }

  create(
    path: string,
    value: string,
    how: { ephemeral?: boolean; sequential?: boolean } = {},
  ): Promise<Znode | undefined> {
    const { ephemeral = false, sequential = false } = how;
    return this.#history.record(
      { client: this.name, kind: 'create', path, value },
      this.#session,
      () =>
        this.raw.create(path, value, {
          mode: ephemeral ? 'ephemeral' : 'persistent',
          sequential,
          timeoutMs: TIMEOUT_MS,
        }),
      ({ path: created, stat }) => ({ created, version: 0, zxid: stat.czxid, owner: stat.ephemeralOwner }),
    );
  }

  /** Resolves with whether it is gone for sure. */
  async delete(path: string): Promise<boolean> {
    const done = await this.#history.record(
      { client: this.name, kind: 'delete', path },
      this.#session,
      async () => {
        await this.raw.delete(path, { timeoutMs: TIMEOUT_MS });
        return true;
      },
      () => ({ created: path }),
    );
    return done === true;
  }

  /** Undefined when it could not be asked; false when the znode is not there. */
  exists(path: string): Promise<Stat | false | undefined> {
    return this.#history.record(
      { client: this.name, kind: 'exists', path },
      this.#session,
      async () => (await this.raw.stat(path, { timeoutMs: TIMEOUT_MS })) ?? false,
      (stat) => (stat === false ? {} : { version: stat.version, zxid: stat.mzxid, owner: stat.ephemeralOwner }),
    );
  }

  sync(): Promise<bigint | undefined> {
    return this.#history.record(
      { client: this.name, kind: 'sync', path: '/' },
      this.#session,
      () => this.raw.sync({ timeoutMs: TIMEOUT_MS }),
      (zxid) => ({ zxid }),
    );
  }

  /** Names of children; not recorded. Undefined when it could not be asked. */
  children(path: string): Promise<string[] | undefined> {
    return this.raw.children(path, { timeoutMs: TIMEOUT_MS }).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.raw.close();
  }
}

interface WireStat {
  readonly version: number;
  readonly mzxid: bigint;
}

/** Writes and linearizable reads without a session, each to a member of its own choice. */
export class UnaryRecording implements Recording {
  readonly name: string;
  readonly #stubs: readonly GrpcClient[];
  readonly #history: History;
  #next = 0;

  constructor(name: string, addresses: readonly string[], history: History) {
    this.name = name;
    this.#history = history;
    this.#stubs = addresses.map((address) => new GrpcClient(address, credentials.createInsecure()));
  }

  async get(path: string) {
    const read = await this.#history.record(
      { client: this.name, kind: 'get', path, linearizable: true },
      () => 0n,
      () => this.#call('GetData', { path, linearizable: true }, false),
      ({ stat, data }) => ({ version: stat.version, zxid: stat.mzxid, seen: Buffer.from(data).toString() }),
    );
    return read && { version: read.stat.version, value: Buffer.from(read.data).toString() };
  }

  async set(path: string, value: string, { expected }: CallChoice = {}): Promise<number | undefined> {
    const condition = expected === undefined ? {} : { expectedVersion: expected };
    const done = await this.#history.record(
      { client: this.name, kind: 'set', path, value, expected },
      () => 0n,
      () => this.#call('SetData', { path, data: Buffer.from(value), ...condition }, true),
      ({ stat }) => ({ version: stat.version, zxid: stat.mzxid }),
    );
    return done?.stat.version;
  }

  #call(name: string, request: object, isWriting: boolean): Promise<{ stat: WireStat; data: Uint8Array }> {
    const method = serviceOf(loadProtos(), ZNODE_SERVICE)[name]!;
    const stub = this.#stubs[this.#next++ % this.#stubs.length]!;
    return new Promise((resolve, reject) => {
      stub.makeUnaryRequest<object, { stat: WireStat; data: Uint8Array }>(
        method.path,
        method.requestSerialize,
        method.responseDeserialize as (bytes: Buffer) => { stat: WireStat; data: Uint8Array },
        request,
        { deadline: Date.now() + TIMEOUT_MS },
        (error, value) => (value === undefined ? reject(failureOf(error, isWriting)) : resolve(value)),
      );
    });
  }

  close(): Promise<void> {
    for (const stub of this.#stubs) stub.close();
    return Promise.resolve();
  }
}

/** What the tree itself refuses, by gRPC's number. Any other status leaves a write unknown. */
const REFUSALS: Readonly<Record<number, ErrorCode>> = { 5: 'NO_NODE', 10: 'BAD_VERSION' };

function failureOf(error: ServiceError | null, isWriting: boolean): CoordinationError {
  const refusal = error === null ? undefined : REFUSALS[error.code];
  return new CoordinationError(refusal ?? 'CONNECTION_LOST', String(error), {
    outcome: isWriting && refusal === undefined ? 'unknown' : 'not-applied',
  });
}
