/** Words of four letters on the ZooKeeper port, in the layouts that tools take apart. Source: reference §11.1. */
import { OP_CODE } from '@quorate/protocol/jute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytes, createBody, versionBody, watchBody } from './bodies.ts';
import { RawClient } from './raw-client.ts';
import { Standalone } from './standalone.ts';

let standalone: Standalone;

beforeAll(async () => {
  standalone = await Standalone.start({ fourLetterWords: '*' });
});

afterAll(async () => {
  await standalone[Symbol.asyncDispose]();
});

async function answer(word: string, at = standalone): Promise<string> {
  const client = await RawClient.open(at.port);
  client.send(bytes(word));
  return (await client.rest()).toString('utf8');
}

describe('words', () => {
  it('ruok and isro are answered without an end of line', async () => {
    expect(await answer('ruok')).toBe('imok');
    expect(await answer('isro')).toBe('rw');
  });

  it('srvr says what the member is, line by line', async () => {
    const lines = (await answer('srvr')).split('\n');
    expect(lines[0]).toMatch(/^Zookeeper version: 3\.\d+\.\d+-/);
    expect(lines.slice(1).map((line) => line.split(': ')[0])).toEqual([
      'Latency min/avg/max',
      'Received',
      'Sent',
      'Connections',
      'Outstanding',
      'Zxid',
      'Mode',
      'Node count',
      '',
    ]);
    expect(lines).toContain('Mode: standalone');
  });

  it('stat and cons show connections, dump sessions and their ephemerals, mntr numbers', async () => {
    const { client, session } = await RawClient.session(standalone.port);
    await client.ask(1, OP_CODE.create, createBody('/eph', undefined, 1));
    const id = `0x${session.id.toString(16)}`;
    expect(await answer('stat')).toMatch(
      /\nClients:\n( \/127\.0\.0\.1:\d+\[1\]\(queued=0,recved=\d+,sent=\d+\)\n)+\nLatency/,
    );
    expect(await answer('cons')).toContain(`sid=${id},`);
    const dump = await answer('dump');
    expect(dump).toContain(`${id}\t10000ms\n`);
    expect(dump).toContain(`${id}:\n\t/eph\n`);
    const mntr = new Map(
      (await answer('mntr'))
        .trim()
        .split('\n')
        .map((line) => line.split('\t') as [string, string]),
    );
    expect(mntr.get('zk_server_state')).toBe('standalone');
    expect(mntr.get('zk_ephemerals_count')).toBe('1');
    expect(Number(mntr.get('zk_packets_received'))).toBeGreaterThan(0);
    client[Symbol.dispose]();
  });

  it('C033: wchs, wchc and wchp count what is watched, and nothing when those who watched are gone', async () => {
    const { client, session } = await RawClient.session(standalone.port);
    await client.ask(1, OP_CODE.exists, watchBody('/watched', true));
    await client.ask(2, OP_CODE.addWatch, versionBody('/watched', 0));
    const id = `0x${session.id.toString(16)}`;
    expect(await answer('wchs')).toBe('1 connections watching 1 paths\nTotal watches:1\n');
    expect(await answer('wchp')).toBe(`/watched\n\t${id}\n\n`);
    expect(await answer('wchc')).toBe(`${id}\n\t/watched\n\n`);
    await client.ask(3, OP_CODE.closeSession);
    await client.rest();
    await expect.poll(() => answer('wchs')).toBe('0 connections watching 0 paths\nTotal watches:0\n');
  });

  it('conf, envi, crst and srst are answered, and srst begins the counts anew', async () => {
    expect(await answer('conf')).toContain(`clientPort=${standalone.port}\n`);
    expect(await answer('envi')).toMatch(/^Environment:\nzookeeper\.version=3\.\d+\.\d+/);
    expect(await answer('crst')).toBe('Connection stats reset.\n');
    expect(await answer('srst')).toBe('Server stats reset.\n');
    expect(await answer('srvr')).toContain('Received: 0\n');
  });

  it('that are not allowed say so, and what is no word is a frame', async () => {
    await using plain = await Standalone.start();
    expect(await answer('mntr', plain)).toBe('mntr is not executed because it is not in the whitelist.\n');
    expect(await answer('srvr', plain)).toContain('Mode: standalone');
    expect(await answer('abcd', plain)).toBe('');
  });
});
