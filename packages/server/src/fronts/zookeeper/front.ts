/** The port for unmodified ZooKeeper clients. */
import { REQUEST_BYTES_MAX } from '@quorate/protocol';
import type { ServerConfig } from '../../config/index.ts';
import type { Log } from '../../logging.ts';
import { SocketAcceptor } from '../../socket-acceptor.ts';
import type { CoreAccess } from '../core-access.ts';
import { Connection } from './connection.ts';
import { FourLetterWords } from './four-letter-words.ts';
import { QuorumView } from './quorum-view.ts';
import { Traffic } from './traffic.ts';
import { wordAnswers } from './word-answers.ts';

/** How often connections are looked at that are served without a quorum, ms. */
const LOOK_MS = 250;

export class ZooKeeperFront {
  readonly #acceptor: SocketAcceptor;
  readonly #looking: NodeJS.Timeout;

  private constructor(acceptor: SocketAcceptor, looking: NodeJS.Timeout) {
    this.#acceptor = acceptor;
    this.#looking = looking;
  }

  /** Listens. Rejects with one clear line when it cannot. */
  static async open(config: ServerConfig, log: Log, core: CoreAccess): Promise<ZooKeeperFront> {
    const traffic = new Traffic();
    const quorum = new QuorumView(core, config.timing.tickMs);
    const port = (): number => acceptor.port;
    const answers = wordAnswers({ config, core, traffic, quorum, port, startedMs: performance.now() });
    const words = new FourLetterWords(
      config.zooKeeper.words,
      answers,
      () => quorum.isReadOnly || core.status()?.serving === true,
    );
    const options = { core, frameBytesMax: REQUEST_BYTES_MAX, words, traffic, quorum };
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
    const looking = setInterval(() => {
      quorum.look();
      traffic.look();
    }, LOOK_MS).unref();
    return new ZooKeeperFront(acceptor, looking);
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
    clearInterval(this.#looking);
    this.#acceptor.destroy();
  }
}
