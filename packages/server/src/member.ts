/**
 * One member, whole, in this process: its disk, its core, its ports. Starts them in an order in which nothing is touched
 * before it is known to be free, and stops them in an order in which nothing acknowledged is lost and nobody is left
 * waiting. Knows no signals and no exit codes; those are the command's.
 */
import type { QuorumPeer } from '@quorate/core';
import { ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { ClusterStatus } from '@quorate/protocol/grpc';
import { AdminHttp } from './admin.ts';
import type { Ports, ServerConfig } from './config/index.ts';
import { Driver } from './driver.ts';
import type { CoreAccess } from './fronts/core-access.ts';
import { GrpcFront } from './fronts/grpc/front.ts';
import { digestIdentities, identitiesOf } from './fronts/identities.ts';
import { ZooKeeperFront } from './fronts/zookeeper/front.ts';
import { createLog, type Log } from './logging.ts';
import { memberInfosOf } from './member-config.ts';
import { MemberDisk } from './member-disk.ts';
import type { Opened } from './opening.ts';
import { Links } from './peers/links.ts';
import { statusOf } from './status.ts';
import { VERSION } from './version.ts';
import { type Deferred, deferred, timeout, unlessAborted } from './waiting.ts';

export interface MemberOptions {
  /** Takes log lines instead of standard output. */
  readonly writeLog?: (line: string) => void;
  /**
   * Called once when the member cannot go on (damaged data, a broken invariant). It serves nothing any more; the process
   * should end. The reason is in the log already.
   */
  readonly onFatal?: (reason: string) => void;
  /** A core was made from the disk, at the start or anew, and is about to be driven. For tests that look into it. */
  readonly onCore?: (core: QuorumPeer) => void;
  /** Gives a start up: `startMember` rejects with StartGivenUp, within 5 s also when the disk hangs. Later it does nothing. */
  readonly signal?: AbortSignal;
  /** The place of this member in the ensemble has changed. */
  readonly onStatus?: (status: ClusterStatus) => void;
}

/** A start was given up by its `signal`. */
export class StartGivenUp extends Error {
  /** See `Member.isDiskHung`. */
  readonly isDiskHung: boolean;

  constructor(isDiskHung: boolean) {
    super('The start was given up');
    this.name = 'StartGivenUp';
    this.isDiskHung = isDiskHung;
  }
}

/** Why and how everything is made anew from the disk. */
interface Anew {
  /** Name of the log line when it is done. */
  readonly event: string;
  /** What clients and members that are connected are told. */
  readonly word: string;
  /** Why the data is to be set aside first. */
  readonly setAside?: string;
}

/** How long clients may take to read the last word before their connections are cut, ms. */
const LAST_WORD_MS = 1_000;

/** Health is looked at this often besides every change, ms: a quorum can be lost without one. */
const HEALTH_MS = 500;

/** Starts a member. Rejects with one clear line: a taken port, a folder that cannot be used, damaged data. */
export async function startMember(config: ServerConfig, options: MemberOptions = {}): Promise<Member> {
  const member = new Member(config, options);
  await member.start();
  return member;
}

export class Member {
  readonly config: ServerConfig;
  readonly #options: MemberOptions;
  readonly #log: Log;
  readonly #driver: Driver;
  #links: Links | undefined;
  #front: GrpcFront | undefined;
  #zooKeeper: ZooKeeperFront | undefined;
  #admin: AdminHttp | undefined;
  readonly #disk: MemberDisk;
  #state: 'starting' | 'running' | 'stopping' | 'stopped' = 'starting';
  #healthTimer: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;
  #coreStopped: () => void = () => undefined;
  #lastPlace = '';
  #divergences = 0;
  #lastDivergence: string | undefined;
  #lastWaiting: string | undefined;
  #setAside: string | undefined;
  readonly #whenServing: Deferred;

  /** Use `startMember`. */
  constructor(config: ServerConfig, options: MemberOptions) {
    this.config = config;
    this.#options = options;
    this.#whenServing = deferred();
    this.#log = createLog({
      level: config.logLevel,
      sid: config.sid,
      place: () => this.#place(),
      ...(options.writeLog === undefined ? {} : { write: options.writeLog }),
    });
    this.#driver = new Driver({
      links: {
        send: (sid, link, message) => this.#links?.send(sid, link, message),
        flush: () => this.#links?.flush(),
        close: (sid, link, reason) => this.#links?.close(sid, link, reason),
        get: (sid, link) => this.#links?.get(sid, link),
        hold: (sid, link, isHeld) => this.#links?.hold(sid, link, isHeld),
      },
      log: this.#log.child('core'),
      onFatal: (reason) => this.#fatal(reason),
      onDiskFailed: (reason) => this.#diskFailed(reason),
      onRebuild: (reason, isDiskWrong) => this.#rebuild(reason, isDiskWrong),
      onStatus: () => this.#statusChanged(),
      onStopped: () => this.#coreStopped(),
    });
    this.#disk = new MemberDisk({
      config,
      log: this.#log,
      newRun: () => this.#driver.newRun(),
      onFatal: (reason) => {
        if (this.#state === 'running') this.#fatal(reason);
      },
    });
  }

  /** Resolves when the member first answers reads and writes: it leads, follows or observes an established leader. */
  get ready(): Promise<void> {
    return this.#whenServing.promise;
  }

  /**
   * After `stop`, `kill` or a start that was given up: the disk did not answer within 5 s and was left as it is. A call to it still hangs in this process,
   * which no exit can end before the disk answers: only SIGKILL does. Nothing acknowledged depends on it.
   */
  get isDiskHung(): boolean {
    return this.#disk.isHung;
  }

  /** The ports in use: real ones where the configuration has 0. */
  get ports(): Ports {
    return {
      zookeeper: this.#zooKeeper?.port ?? this.config.ports.zookeeper,
      grpc: this.#front?.port ?? this.config.ports.grpc,
      peer: this.#links?.port ?? this.config.ports.peer,
      admin: this.#admin?.port ?? this.config.ports.admin,
    };
  }

  /** Undefined while the member recovers. */
  status(): ClusterStatus | undefined {
    const status = this.#driver.status;
    if (status === undefined) return undefined;
    const { clusterId } = this.config;
    const members = memberInfosOf(this.config, this.ports);
    const divergences = this.#divergences;
    const lastDivergence = this.#lastDivergence;
    const diskFreeBytes = this.#disk.freeBytes;
    const setAside = status.voteRight === 'recovering' ? this.#setAside : undefined;
    const about = { clusterId, version: VERSION, members, diskFreeBytes, divergences, lastDivergence, setAside };
    return statusOf(status, about);
  }

  /** Called by `startMember`. On failure everything that was opened is closed again. */
  async start(): Promise<void> {
    try {
      // Ports first: a second member started by mistake must not touch the data of the first.
      await this.#openPorts();
      const startedMs = performance.now();
      this.#enter(await unlessAborted(this.#disk.open(), this.#options.signal), 'started', startedMs);
    } catch (error) {
      this.#driver.halt();
      await this.#close();
      if (this.#options.signal?.aborted === true) throw new StartGivenUp(this.isDiskHung);
      throw error;
    }
    this.#state = 'running';
    this.#links?.start();
    this.#healthTimer = setInterval(() => this.#look(), HEALTH_MS).unref();
    this.#statusChanged();
  }

  /**
   * Stops: takes no new calls, answers those in flight, hands its place over, tells streams to go elsewhere, closes the
   * disk. What takes longer than `stopGraceMs` is cut off. Idempotent: all calls wait for the same end.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Drops everything at once, as a killed process would, save that the disk is closed so that it can be opened again. */
  async kill(): Promise<void> {
    this.#state = 'stopped';
    this.#driver.halt();
    this.#stopped ??= this.#close();
    await this.#stopped;
  }

  async #openPorts(): Promise<void> {
    const { config } = this;
    this.#links = await Links.open(config, this.#log.child('links'), {
      linkUp: (sid, link) => this.#driver.post({ kind: 'linkUp', sid, link }),
      linkDown: (sid, link) => this.#driver.post({ kind: 'linkDown', sid, link }),
      peerMessage: (sid, link, message) => this.#driver.post({ kind: 'peerMessage', sid, link, message }),
    });
    this.#front = await GrpcFront.open(config, this.#log.child('grpc'), this.#access(this.#log.child('grpc')));
    const zooKeeperLog = this.#log.child('zookeeper');
    this.#zooKeeper = await ZooKeeperFront.open(config, zooKeeperLog, this.#access(zooKeeperLog));
    this.#admin = await AdminHttp.open({ status: () => this.status() }, config.adminBind, config.ports.admin);
  }

  /** What a front sees of this member. */
  #access(log: Log): CoreAccess {
    const driver = this.#driver;
    const { config } = this;
    return {
      sid: config.sid,
      log,
      calls: driver.calls,
      feeds: driver.feeds,
      streamCallsMax: config.serverLimits.streamCallsMax,
      identitiesOf: (peer, credentials) => identitiesOf(peer, credentials, config.superDigest),
      timing: config.timing,
      saslUsers: config.zooKeeper.saslUsers,
      digestIdentities: (text) => digestIdentities(text, config.superDigest),
      refusal: () => this.#refusal(),
      post: (event) => driver.post(event),
      attach: (attachment) => driver.attach(attachment),
      detach: (number) => driver.detach(number),
      answered: (attachment) => driver.answered(attachment),
      appliedZxid: () => this.#appliedZxid(),
      status: () => this.status(),
      sessions: () => driver.sessions,
      watches: () => driver.watches,
    };
  }

  /** Takes a core that was made from the disk into service. */
  #enter({ core, first, store, summary, setAside }: Opened, event: string, sinceMs: number): void {
    this.#setAside = setAside;
    this.#options.onCore?.(core);
    this.#driver.start(core, store, first);
    const { checkpointZxid, lastZxid, tornTail } = summary;
    if (tornTail !== undefined) this.#log.warn('tornTailCut', { reason: tornTail });
    if (this.config.bootstrap && summary.acceptedEpoch > 0) {
      const reason =
        'The ensemble exists; with bootstrap set, voters that lost their disks may begin another one: take it away';
      this.#log.warn('bootstrapStillSet', { reason });
    }
    const elapsedMs = Math.round(performance.now() - sinceMs);
    this.#log.info(event, { version: VERSION, ...this.ports, checkpointZxid, lastZxid, elapsedMs });
  }

  /**
   * The disk failed while the member runs. What it holds now is not known, so nothing in memory is trusted: when the disk works
   * again everything is made anew from it, as at a start. Meanwhile the core answers reads, for as long as it may.
   */
  #diskFailed(reason: string): void {
    const next =
      'This member has no place in the ensemble and answers reads only; it opens the disk anew when that works';
    this.#log.error('diskFailed', { reason, next });
    this.#beginAnew({ event: 'diskMended', word: 'The disk of this member failed and works again; it begins anew' });
  }

  /**
   * What this member had in memory is not what the ensemble agreed on, so it has left service. Everything is made anew from the
   * disk, or, when that was found to be no better, from nothing: the data goes aside and comes from the others.
   */
  #rebuild(reason: string, isDiskWrong: boolean): void {
    this.#divergences++;
    this.#lastDivergence = reason;
    const next = isDiskWrong
      ? 'What it had read from the disk was wrong: its data is set aside, and it begins without a vote'
      : 'It has left service, and is made anew from its disk';
    this.#log.error('diverged', { reason, next });
    const word = 'This member has left service, because its tree was not what the others have; it begins anew';
    this.#beginAnew({ event: 'rebuilt', word, ...(isDiskWrong ? { setAside: reason } : {}) });
  }

  #beginAnew({ event, word, setAside }: Anew): void {
    this.#statusChanged();
    if (this.#state !== 'running') return;
    const sinceMs = performance.now();
    const enter = (opened: Opened): void => {
      if (this.#state !== 'running') return;
      // The new core knows no links and no clients: both begin anew with it.
      this.#driver.closeAttachments('UNAVAILABLE', word);
      this.#links?.closeAll(word);
      this.#enter(opened, event, sinceMs);
      this.#statusChanged();
    };
    this.#disk.openAnew(enter, setAside);
  }

  #refusal(): string | undefined {
    if (this.#state === 'running') return undefined;
    return this.#state === 'starting' ? 'The member is starting; it recovers its data' : 'The member is stopping';
  }

  #appliedZxid(): Zxid {
    return this.#driver.status?.lastZxid ?? ZERO_ZXID;
  }

  #place(): { role: string; epoch: number; zxid: bigint } | undefined {
    const status = this.#driver.status;
    return status === undefined ? undefined : { role: status.role, epoch: status.epoch, zxid: status.lastZxid };
  }

  #statusChanged(): void {
    this.#setHealth();
    const status = this.status();
    if (status === undefined || this.#state === 'stopped') return;
    if (status.hasQuorum && status.serving) this.#whenServing.resolve();
    const { role, phase, leader, serving, epoch, diskFailed } = status;
    const place = `${role} ${phase} ${leader} ${serving} ${epoch} ${diskFailed}`;
    if (place === this.#lastPlace) return;
    this.#lastPlace = place;
    this.#log.info('place', { phase, leader, serving });
    this.#options.onStatus?.(status);
  }

  #look(): void {
    this.#setHealth();
    const waiting = this.#driver.status?.waiting;
    if (waiting === this.#lastWaiting) return;
    this.#lastWaiting = waiting;
    if (waiting !== undefined) this.#log.warn('waiting', { reason: waiting });
  }

  #setHealth(): void {
    const status = this.#driver.status;
    const isRunning = this.#state === 'running' && status !== undefined;
    this.#front?.setHealth({
      live: this.#state === 'starting' || this.#state === 'running',
      serving: isRunning && status.serving && status.diskFailed === undefined,
      hasQuorum: isRunning && status.hasQuorum,
    });
  }

  #fatal(reason: string): void {
    this.#log.fatal('failed', { reason });
    this.#state = 'stopped';
    this.#stopped ??= this.#close();
    this.#options.onFatal?.(reason);
  }

  async #stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopping';
    this.#log.info('stopping', {});
    this.#setHealth();
    const grace = timeout(this.config.stopGraceMs);
    await Promise.race([this.#finish(), grace.over]);
    grace.cancel();
    this.#state = 'stopped';
    this.#driver.halt();
    await this.#close();
    this.#log.info('stopped', {});
  }

  /** Waits until nothing is in flight, then until clients have read the last word. */
  async #finish(): Promise<void> {
    const fronts = [this.#front, this.#zooKeeper];
    const stopped = deferred();
    this.#coreStopped = stopped.resolve;
    this.#driver.post({ kind: 'stop' });
    await stopped.promise;
    this.#driver.closeAttachments('UNAVAILABLE', 'The member is stopping; the session goes on at another member');
    this.#front?.drain(LAST_WORD_MS);
    this.#zooKeeper?.close();
    const endMs = performance.now() + LAST_WORD_MS;
    const isAnyConnected = (): boolean => fronts.some((front) => front !== undefined && front.connections > 0);
    while (isAnyConnected() && performance.now() < endMs) await timeout(10).over;
  }

  async #close(): Promise<void> {
    clearInterval(this.#healthTimer);
    this.#front?.destroy();
    this.#zooKeeper?.destroy();
    this.#admin?.close();
    await this.#links?.stop();
    await this.#disk.close();
  }
}
