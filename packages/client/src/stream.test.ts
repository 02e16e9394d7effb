/** One attachment and its channel: what of it stays when it has ended. */
import { connect as connectTcp, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { dialGrpc } from './stream.ts';

it('C073: an attachment that has ended makes no further connection', async () => {
  let connections = 0;
  let onConnection = (): void => {};
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.destroy();
    onConnection();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const handlers = { onUp: () => {}, onFrame: () => {} };
  const reason = await new Promise<string>(
    (onEnd) => void dialGrpc({ host: '127.0.0.1', port }, { ...handlers, onEnd }),
  );
  expect(reason).toMatch(/^No connection established/);
  // grpc-js would come back within a few turns of the loop.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  await new Promise<void>((resolve) => {
    onConnection = resolve;
    connectTcp(port, '127.0.0.1').on('error', () => {});
  });
  expect(connections).toBe(2);
  await new Promise((resolve) => server.close(resolve));
});
