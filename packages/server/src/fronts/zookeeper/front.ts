/** The port for unmodified ZooKeeper clients. */
import { REQUEST_BYTES_MAX } from '@quorate/protocol';
import type { ServerConfig } from '../../config/index.ts';
import type { Log } from '../../logging.ts';
import { SocketAcceptor } from '../../socket-acceptor.ts';
import type { CoreAccess } from '../core-access.ts';
import { Connection } from './connection.ts';
import { FourLetterWords } from './four-letter-words.ts';
import { Traffic } from './traffic.ts';
import { wordAnswers } from './word-answers.ts';

export class ZooKeeperFront {
  readonly #acceptor: SocketAcceptor;

  private constructor(acceptor: SocketAcceptor) {
    this.#acceptor = acceptor;
  }

  /** Listens. Rejects with one clear line when it cannot. */
  static async open(config: ServerConfig, log: Log, core: CoreAccess): Promise<ZooKeeperFront> {
    const traffic = new Traffic();
    const port = (): number => acceptor.port;
    const answers = wordAnswers({ config, core, traffic, port, startedMs: performance.now() });
    const words = new FourLetterWords(config.zooKeeper.words, answers, () => core.status()?.serving === true);
    const options = { core, frameBytesMax: REQUEST_BYTES_MAX, words, traffic };
    const acceptor: SocketAcceptor = await SocketAcceptor.open(
      {
        name: 'zookeeper',
        host: config.bind,
        port: config.ports.zookeeper,
        connectionsMax: config.serverLimits.connectionsMax,
        connectionsPerAddressMax: config.serverLimits.connectionsPerAddressMax,
        log,
      },
      (socket) => new Connection(socket, options).start(),
    );
    return new ZooKeeperFront(acceptor);
  }

  get port(): number {
    return this.#acceptor.port;
  }

  /** Connections that are still there. */
  get connections(): number {
    return this.#acceptor.connections;
  }

  /** Takes no new connections. */
  close(): void {
    this.#acceptor.close();
  }

  /** Ends everything now. Idempotent. */
  destroy(): void {
    this.#acceptor.destroy();
  }
}
