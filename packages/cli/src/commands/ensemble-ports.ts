/** Whether a local ensemble can be started: nobody runs it already, and its ports are free. Asked before anything is changed. */
import { createServer } from 'node:net';
import { isAlive, readEnsembleFile } from './ensemble-file.ts';
import { EnsembleError, type PlannedMember } from './ensemble-plan.ts';

/** Rejects with EnsembleError that names the first taken port and what to do. */
export async function checkPortsFree(members: readonly PlannedMember[]): Promise<void> {
  const wanted = members.flatMap(({ sid, ports: { zookeeper, grpc, peer, admin } }) => [
    { sid, name: 'ZooKeeper', port: zookeeper },
    { sid, name: 'gRPC', port: grpc },
    { sid, name: 'peer', port: peer },
    { sid, name: 'admin', port: admin },
  ]);
  const faults = await Promise.all(wanted.map(async (one) => ({ ...one, fault: await portFault(one.port) })));
  const taken = faults.find(({ fault }) => fault !== undefined);
  if (taken === undefined) return;
  const { sid, name, port, fault } = taken;
  const why = fault === 'EADDRINUSE' ? 'is taken; stop what uses it, or' : `cannot be used (${fault});`;
  throw new EnsembleError(`Port ${port} (${name} of member ${sid}) ${why} choose other ports with --base-port`);
}

/**
 * Rejects with EnsembleError when another command runs a member of the ensemble in `directory`, or the one named by `only`.
 * Two things must say so, for a pid that was left in the file may have become that of another process.
 */
export async function checkNotRunning(directory: string, only: number | undefined): Promise<void> {
  for (const { sid, pid, ports } of readEnsembleFile(directory)?.members ?? []) {
    if ((only !== undefined && sid !== only) || pid === undefined || !isAlive(pid)) continue;
    if ((await portFault(ports.grpc)) !== 'EADDRINUSE') continue;
    throw new EnsembleError(
      `Member ${sid} of ${directory} runs already (pid ${pid}, gRPC port ${ports.grpc}); stop it first`,
    );
  }
}

function portFault(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(undefined)));
  });
}
