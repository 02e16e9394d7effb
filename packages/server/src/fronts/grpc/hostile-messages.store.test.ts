/** Messages that are too long, or say that they are, on the port for gRPC clients: refused before they take memory, and nobody else notices. */
import { connect as connectHttp2 } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, Standalone } from './front.fixture.ts';

const CREATE = '/quorate.v1.ZnodeService/Create';
const MIB = 1024 * 1024;

let standalone: Standalone;

beforeAll(async () => {
  standalone = await Standalone.start();
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

/** A length-prefixed message of gRPC: is it compressed, how long is it said to be, and what comes of it. */
function message(isCompressed: boolean, length: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head[0] = isCompressed ? 1 : 0;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, body]);
}

/** Sends bytes as the body of a call, leaves the request open, and returns the gRPC status that it is answered with. */
async function statusOf(bytes: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const client = connectHttp2(`http://127.0.0.1:${standalone.member.ports.grpc}`);
  client.on('error', () => {});
  try {
    const whole = {
      ':method': 'POST',
      ':path': CREATE,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    };
    const stream = client.request(whole);
    return await new Promise<number>((resolve, reject) => {
      const take = (shown: Readonly<Record<string, unknown>>) => {
        if (shown['grpc-status'] !== undefined) resolve(Number(shown['grpc-status']));
      };
      stream.on('response', take).on('trailers', take).on('error', reject);
      stream.on('close', () => reject(new Error('The stream ended without a status')));
      stream.resume();
      stream.write(bytes);
    });
  } finally {
    client.destroy();
  }
}

it('C132: one that is too long fails alone, as RESOURCE_EXHAUSTED; calls of the same connection go on', async () => {
  const client = standalone.client();
  const long = call(client, 'quorate.v1.ZnodeService', 'Create', { path: '/long', data: Buffer.alloc(5 * MIB) });
  const other = call(client, 'quorate.v1.ZnodeService', 'Create', { path: '/other' });
  await expect(long).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  await expect(other).resolves.toMatchObject({ path: '/other' });
});

it('C132: one that is said to have two gigabytes is refused at its head, whatever comes of it', async () => {
  expect(await statusOf(message(false, 0x7fff_ffff, new Uint8Array(10)))).toBe(status.RESOURCE_EXHAUSTED);
});

it('C132: one that is small and would be 256 MiB when inflated is refused without being inflated as a whole', async () => {
  const bomb = gzipSync(Buffer.alloc(256 * MIB));
  expect(bomb.length).toBeLessThan(MIB);
  const before = process.memoryUsage.rss();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => statusOf(message(true, bomb.length, bomb), { 'grpc-encoding': 'gzip' })),
  );
  expect(new Set(answers)).toEqual(new Set([status.RESOURCE_EXHAUSTED]));
  expect(process.memoryUsage.rss() - before).toBeLessThan(256 * MIB);
});
